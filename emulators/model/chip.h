/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A flash chip as a function of time: command bytes in, reply bytes and facts out.
 *
 * The chip never waits and reads no clock: the caller passes the time, which never runs backwards
 * from one transfer to the next. The chip allocates nothing and includes no header of an OS.
 */
#ifndef EMULATORS_MODEL_CHIP_H
#define EMULATORS_MODEL_CHIP_H

#include "array.h"
#include "corner.h"
#include "dataflash.h"
#include "parallel.h"
#include "part.h"
#include "spi.h"

struct family;
struct spi_command;

#define CHIP_LATCH_BYTES_MAX DATAFLASH_PAGE_BYTES_MAX /* the longest page of all */
#define SPI_HEAD_BYTES_MAX 8                          /* opcode, address and dummies */
#define SPI_COMMAND_BYTES_MAX (SPI_HEAD_BYTES_MAX + 2 * CHIP_LATCH_BYTES_MAX)

/* The reasons why a command was not obeyed, and their names in events. */
#define CHIP_RULES(RULE)                                                                           \
	RULE(NONE, NULL)                                                                           \
	/* Too early: margin_ns is the rest of the wait, as a negative number. */                  \
	RULE(BUSY, "busy")                                                                         \
	RULE(DEEP_POWER_DOWN, "tdp") /* within tDP after B9h */                                    \
	RULE(RELEASE, "tres")        /* within tRES after ABh */                                   \
	RULE(RESET, "reset")         /* within tRST after a reset */                               \
	RULE(SUSPEND, "tsus")        /* within tSUS after a suspend */                             \
	RULE(SELECT, "tvsl")         /* within tVSL after power-up */                              \
	RULE(WRITE, "tpuw")          /* a write within tPUW after power-up */                      \
	RULE(ID_ACCESS, "tida")      /* within tIDA after ID mode was entered or left */           \
	/* Too late: margin_ns is the time since the window ended, as a negative number. */        \
	RULE(WINDOW, "window") /* the part had stopped waiting for a sector, byte or cycle */      \
	/* Wrong at any time. */                                                                   \
	RULE(POWER_DOWN, "power_down") /* the part sleeps and obeys ABh only */                    \
	RULE(WEL, "wel")               /* no write enable came before */                           \
	RULE(PROTECTED, "protected")   /* block protection is on there */                          \
	RULE(LENGTH, "length")         /* a command of a length that the part refuses */           \
	/* The first byte or cycle is known, but those after it make no command. */                \
	RULE(SEQUENCE, "sequence")                                                                 \
	RULE(REGION, "region")       /* there is no block of that size, or no such register */     \
	RULE(SUSPENDED, "suspended") /* not allowed while an erase or program is suspended */      \
	RULE(ERROR, "error")         /* an error was not cleared yet */                            \
	RULE(AAI, "aai")             /* against the rules of auto address increment */             \
	RULE(ID_MODE, "id_mode") /* in ID mode the part obeys only the command that leaves it */   \
	RULE(PAGE, "page")       /* a byte for another page than the one being loaded */           \
	/* chip_stick_from() keeps the part busy for ever, whatever the wait */                    \
	RULE(STUCK, "stuck")

#define CHIP_WORKS(WORK)                                                                           \
	WORK(NONE, NULL)                                                                           \
	WORK(PROGRAM, "program")                                                                   \
	WORK(ERASE, "erase")                                                                       \
	WORK(WRITE_STATUS, "write_status")                                                         \
	WORK(SUSPEND, "suspend")                                                                   \
	WORK(PAGE_READ, "page_read") /* between the array and a buffer */

#define CHIP_RULE(id_, name_) CHIP_RULE_##id_,
enum chip_rule { CHIP_RULES(CHIP_RULE) };

#define CHIP_WORK(id_, name_) CHIP_WORK_##id_,
enum chip_work { CHIP_WORKS(CHIP_WORK) };

/* The bytes from one fall of chip select to its rise. */
struct chip_transfer {
	uint64_t start_ns; /* when the command began to arrive */
	uint64_t end_ns;   /* when chip select rose: busy times and waits count from here */
	const uint8_t *command;
	size_t command_len; /* at least 1 */
	uint8_t *reply;     /* written in full, 0xFF where the part drives nothing */
	size_t reply_len;
};

/* The facts of one transfer or cycle. */
struct chip_facts {
	const char *name;       /* the command's name, "UNKNOWN" if the part does not have it */
	uint64_t busy_left_ns;  /* the rest of the busy time when the command came */
	uint64_t busy_until_ns; /* the end of the last busy time, 0 before the first */
	uint64_t work_ns;       /* the duration of the work that the command started */
	/* The number of the work that the command started, if that work never ends; else 0. */
	uint64_t stuck_nth;
	/* start_ns minus the earliest allowed time, or the latest allowed time minus start_ns */
	int64_t margin_ns;
	uint32_t address;
	uint8_t opcode;
	uint8_t status; /* status register 1 after a transfer; the value that a cycle read */
	enum chip_rule rule;
	enum chip_work work;   /* the work that the command started */
	enum grade work_grade; /* the grade of work_ns */
	enum grade grade;      /* the grade of the figure behind margin_ns */
	bool has_address;
	bool owed;              /* margin_ns and grade are set */
	bool partial;           /* a write cycle whose command needs more cycles */
	bool lost_power;        /* power was lost since the previous command */
	uint64_t lost_power_ns; /* when it was lost */
};

/* The bytes on the bus since chip select fell. */
struct spi_wire {
	const struct spi_command *command; /* NULL: the part does not have it */
	uint64_t start_ns;                 /* when chip select fell */
	size_t command_len;                /* the number of @bytes */
	size_t head_len;                   /* opcode, address and dummies of the command */
	size_t clocked_len;                /* all bytes, whoever drove the bus */
	size_t replied_len;                /* the number of these that the client read as a reply */
	bool has_address;                  /* the address bytes that arrived are decoded */
	bool is_silent;   /* the part was off at the first byte, or lost its power since */
	bool bank_access; /* this and the next: copies from chip.spi when the command began */
	bool status_enabled;
	struct chip_facts facts;
	/*
	 * Bytes that the client drove, without those that later bytes of a page replaced. The bytes
	 * that it drives while it reads a reply are included; commands with a reply ignore their
	 * values. Last, because chip_select() clears all before it.
	 */
	uint8_t bytes[SPI_COMMAND_BYTES_MAX];
};

/* A wait that the client owes. The first command that is not too early settles it. */
struct chip_debt {
	uint64_t ready_ns;
	enum chip_rule rule;
	enum grade grade;
	bool open;
	bool endless; /* the part is not ready after ready_ns either */
};

/* The content that the current program operation puts into the array. */
struct chip_latch {
	uint32_t address;
	uint32_t size_bytes;
	bool replaces; /* true: replaces the old content; false: only clears bits */
	uint8_t bytes[CHIP_LATCH_BYTES_MAX];
};

/* When a part loses its power: during its n-th busy time. */
struct power_cut {
	uint32_t nth; /* the number of the busy time, from 1 on; 0: never */
	bool is_percent;
	uint64_t after;  /* in percent of the busy time or in ns, from its beginning */
	uint64_t off_ns; /* the time without power; 0: for ever */
};

struct chip_power {
	struct power_cut cut;
	uint64_t works_before; /* the number of busy times begun before the cut was planned */
	bool planned;          /* the power is lost during the current work, at at_ns */
	bool off;
	bool reported;          /* the facts of a command have reported the loss */
	uint64_t ramp_until_ns; /* the supply rises until then; 0: no ramp */
	uint64_t at_ns;         /* the time of the loss, planned or past */
};

struct chip_pending {
	enum chip_work work;
	uint32_t address;
	uint32_t size_bytes; /* the size of an erase */
};

/* Embedded by its owner. Only the model changes the fields. */
struct chip {
	const struct part *part;
	const struct family *family;
	struct corner corner;
	struct array array;
	struct uses uses;
	uint64_t noise_seed; /* the seed of bytes that no datasheet defines */
	uint64_t busy_since_ns;
	uint64_t busy_until_ns;
	struct chip_debt debt;
	struct chip_debt write_debt; /* a wait after power-up that only writes owe */
	struct chip_pending pending;
	uint64_t work_count; /* the number of busy times begun so far */
	uint64_t stuck_from; /* the number of the first busy time that never ends; 0: all end */
	struct chip_latch latch;
	struct chip_power power;
	/* The families' own state. */
	struct spi_state spi;
	struct spi_wire wire;
	union {
		struct dataflash_state dataflash;
		struct parallel_state parallel;
	};
};

/* Returns how many bytes @memory of chip_init() must hold for this part. */
size_t chip_memory_bytes(const struct part *part);

/*
 * Makes a part that is erased and ready, long after power-up. @memory belongs to the caller, is all
 * zeros and must outlive the chip. Its pages are touched only when something is programmed there.
 */
void chip_init(
	struct chip *chip, const struct part *part, const struct corner *corner, void *memory);

/*
 * Keeps the part busy for ever from its @nth busy time on, counted from 1; 0: never. A command
 * before the nominal end of that busy time is too early, as usual. A later command breaks
 * CHIP_RULE_STUCK, because no wait would be long enough. A reset frees the part until its next
 * work.
 */
void chip_stick_from(struct chip *chip, uint64_t nth);

/*
 * Takes the power away: work under way stays half done (array.h). Without power the part is silent,
 * lines that nothing drives read as ones, and no command breaks a rule.
 */
void chip_power_off(struct chip *chip, uint64_t at_ns);

/* Gives the power back: volatile registers are reset, and the power-up times begin. */
void chip_power_on(struct chip *chip, uint64_t at_ns);

void chip_power_cycle(struct chip *chip, uint64_t at_ns);

/* Parses NTH[,PERCENT%|,NS[,OFF_NS]], such as 3,50% or 3,1500,2000000. Returns 0 or -EINVAL. */
int power_cut_parse(const char *text, struct power_cut *cut);

/* Returns when the power is lost, in ns from the beginning of a busy time of @work_ns. */
uint64_t power_cut_after_ns(const struct power_cut *cut, uint64_t work_ns);

/* Plans a loss of power in the busy time that @cut names, counted from now on. */
void chip_plan_power_cut(struct chip *chip, const struct power_cut *cut);

/*
 * A transfer byte by byte, for parts on an SPI bus: chip select falls, bytes pass in both
 * directions, chip select rises. A reply byte shows the state of the part at the @now_ns of that
 * byte, so two status bytes of one transfer can differ. A command acts when chip select rises, and
 * waits count from there.
 *
 * These functions never fail: a command that the part ignores is a fact, not an error.
 */
void chip_select(struct chip *chip, uint64_t now_ns);
uint8_t chip_exchange(struct chip *chip, uint64_t now_ns, uint8_t value);

/*
 * Returns the byte that the part drives next, without a change of state. A client that exchanges
 * single bits needs it before the last bit of its own byte, when it can call chip_exchange().
 */
uint8_t chip_preview(struct chip *chip, uint64_t now_ns);

/*
 * Chooses the die with @address before a command, for parts whose dies each have a chip select. Has
 * no effect on any other part.
 */
void chip_select_die(struct chip *chip, uint32_t address);

/* Notes that chip select rises within a byte: then only a command with a reply is obeyed. */
void chip_cut_short(struct chip *chip);

/* Ends the transfer. Returns false, and no facts, if no byte passed. */
bool chip_deselect(struct chip *chip, uint64_t now_ns, struct chip_facts *facts);

/* Returns how many bytes passed since chip select fell; @reply_len: how many were a reply. */
size_t chip_passed_len(const struct chip *chip, size_t *reply_len);

/*
 * Runs a whole transfer. All its bytes pass at start_ns, except the reply of a command that polls:
 * its bytes pass one after the other until end_ns.
 */
void chip_transfer(
	struct chip *chip, const struct chip_transfer *transfer, struct chip_facts *facts);

/*
 * Runs one cycle on the bus of a part that is not on SPI. The part decodes only as many address
 * bits as it has. LPC and FWH parts are at the top of 16 MiB, and have registers 4 MiB below that.
 * A read of a busy part returns status bits, and breaks no rule.
 */
void chip_write_cycle(struct chip *chip, uint64_t start_ns, uint64_t end_ns, uint32_t address,
	uint8_t value, struct chip_facts *facts);
uint8_t chip_read_cycle(struct chip *chip, uint64_t start_ns, uint64_t end_ns, uint32_t address,
	struct chip_facts *facts);

/*
 * Runs @len reads in a row, each as long as a cycle of the part. @facts are those of the first
 * read, or of the first that broke a rule; facts->status is the last value.
 */
void chip_read_cycles(struct chip *chip, uint64_t start_ns, uint32_t address, uint8_t *out,
	size_t len, struct chip_facts *facts);

/* Finishes work whose time is over. Call it before reading the array from outside. */
void chip_settle(struct chip *chip, uint64_t now_ns);

/* Return NULL for CHIP_RULE_NONE and CHIP_WORK_NONE. */
const char *chip_rule_name(enum chip_rule rule);
const char *chip_work_name(enum chip_work work);

#endif
