/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A flash chip as a function of time: command bytes in, reply bytes and facts out.
 *
 * It never waits and never asks what time it is: the caller says, and time never runs backwards
 * from one transfer to the next. It allocates nothing and includes no header of an OS.
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

/* Why a command was not obeyed. */
enum chip_rule {
	CHIP_RULE_NONE,
	/* Too early: these rest on a figure, and margin_ns says by how much. */
	CHIP_RULE_BUSY,
	CHIP_RULE_DEEP_POWER_DOWN, /* within tDP after B9h */
	CHIP_RULE_RELEASE,         /* within tRES after ABh */
	CHIP_RULE_RESET,           /* within tRST after a reset */
	CHIP_RULE_SUSPEND,         /* within tSUS after a suspend */
	CHIP_RULE_SELECT,          /* within tVSL after power came */
	CHIP_RULE_WRITE,           /* a write within tPUW after power came */
	CHIP_RULE_ID_ACCESS,       /* within tIDA after ID mode was entered or left */
	/* Too late: margin_ns is less than 0 by as much. */
	CHIP_RULE_WINDOW, /* the part had stopped waiting for a further sector, byte or cycle */
	/* Wrong whenever it comes. */
	CHIP_RULE_POWER_DOWN, /* the part sleeps and hears ABh only */
	CHIP_RULE_WEL,        /* no write enable came before */
	CHIP_RULE_PROTECTED,  /* block protection is on there */
	CHIP_RULE_LENGTH,     /* a write command of a length that the part refuses */
	/* The first byte or cycle is known, but those after it make no command */
	CHIP_RULE_SEQUENCE,
	CHIP_RULE_REGION,    /* an erase where there are no blocks of that size */
	CHIP_RULE_SUSPENDED, /* not while an erase or program is suspended */
	CHIP_RULE_ERROR,     /* an error was not cleared yet */
	CHIP_RULE_AAI,       /* against the rules of auto address increment */
	CHIP_RULE_ID_MODE,   /* only leaving ID mode is obeyed there */
	CHIP_RULE_PAGE,      /* a byte for another page than the one that is being loaded */
	CHIP_RULE_STUCK,     /* the part was told never to end its work, whatever the wait */
};

enum chip_work {
	CHIP_WORK_NONE,
	CHIP_WORK_PROGRAM,
	CHIP_WORK_ERASE,
	CHIP_WORK_WRITE_STATUS,
	CHIP_WORK_SUSPEND,
	CHIP_WORK_PAGE_READ, /* from the array into a buffer */
};

/* One time that chip select was low. */
struct chip_transfer {
	uint64_t start_ns; /* when the command began to arrive */
	uint64_t end_ns;   /* when chip select rose: busy times and waits count from here */
	const uint8_t *command;
	size_t command_len; /* at least 1 */
	uint8_t *reply;     /* written in full, 0xFF where the part drives nothing */
	size_t reply_len;
};

/* The facts of one transfer. */
struct chip_facts {
	const char *name;       /* the command's name, "UNKNOWN" if the part has no such one */
	uint64_t busy_left_ns;  /* when it came */
	uint64_t busy_until_ns; /* the end of the last busy time, 0 before the first */
	uint64_t work_ns;       /* the duration of the work that it started */
	/* The number of the work that it started, if that never ends; else 0 */
	uint64_t stuck_nth;
	int64_t margin_ns; /* start_ns less the moment from which it was allowed */
	uint32_t address;
	uint8_t opcode;
	uint8_t status; /* status register 1 afterwards; of a read cycle the value */
	enum chip_rule rule;
	enum chip_work work;   /* that it started */
	enum grade work_grade; /* the grade of work_ns */
	enum grade grade;      /* the grade of the figure behind margin_ns */
	bool has_address;
	bool owed;              /* margin_ns and grade mean something */
	bool partial;           /* a write cycle to which further ones of its command belong */
	bool lost_power;        /* since the command before */
	uint64_t lost_power_ns; /* when */
};

/* The bytes on the bus since chip select fell. */
struct spi_wire {
	const struct spi_command *command; /* NULL: the part knows no such one */
	uint64_t start_ns;                 /* when chip select fell */
	/*
	 * Bytes that the client drove, without those that further ones of a page replaced. What it
	 * drives while it reads is among them: no command of a reply looks at it.
	 */
	uint8_t bytes[SPI_COMMAND_BYTES_MAX];
	size_t command_len;
	size_t head_len;    /* opcode, address and dummies of the command */
	size_t clocked_len; /* all bytes, whoever drove the bus */
	size_t replied_len; /* those of them that the client read as a reply */
	bool has_address;   /* decoded, as far as it came */
	bool is_silent;     /* the part lost its power meanwhile */
	bool bank_access;   /* states that are for this command alone, as it began */
	bool status_enabled;
	struct chip_facts facts;
};

/* A wait that the client owes. It is settled by the first command that comes after it. */
struct chip_debt {
	uint64_t ready_ns;
	enum chip_rule rule;
	enum grade grade;
	bool open;
	bool endless; /* ready_ns passes, and the part is not ready */
};

/* The content that the present program puts into the array. */
struct chip_latch {
	uint32_t address;
	uint32_t size_bytes;
	bool replaces; /* true: it replaces the old content; false: it only clears bits */
	uint8_t bytes[CHIP_LATCH_BYTES_MAX];
};

/* When a part loses its power: during its n-th busy time. */
struct power_cut {
	uint32_t nth; /* the number of the busy time, from 1 on; 0: never */
	bool is_percent;
	uint64_t after;  /* its beginning: percent of that busy time, or ns */
	uint64_t off_ns; /* for how long; 0: for ever */
};

struct chip_power {
	struct power_cut cut;
	uint64_t works_before; /* the works that had begun before it was planned */
	bool planned;          /* the work in hand is the one: at at_ns */
	bool off;
	bool told;              /* by the facts of a command */
	uint64_t ramp_until_ns; /* its supply rises until then; 0: at once */
	uint64_t at_ns;
};

struct chip_pending {
	enum chip_work work;
	uint32_t address;
	uint32_t size_bytes; /* the size of an erase */
};

/* Embedded by its owner; to be changed by the model only. */
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
	struct chip_debt write_debt; /* owed by writes only, after power came */
	struct chip_pending pending;
	uint64_t work_count; /* busy times that were begun */
	uint64_t stuck_from; /* the first of them that never ends, 0: they all do */
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

/* Bytes that @memory of chip_init() must hold for this part. */
size_t chip_memory_bytes(const struct part *part);

/*
 * Begins erased and ready, as it is long after power came. @memory is the caller's, all zeros, and
 * outlives the chip: pages of it are touched only when something is programmed there.
 */
void chip_init(
	struct chip *chip, const struct part *part, const struct corner *corner, void *memory);

/*
 * From the @nth busy time on, counted from 1, the part never gets ready by itself: until it should
 * be, a command is too early as ever, and from then on it breaks CHIP_RULE_STUCK, which says
 * nothing of a wait. A reset frees the part until its next work. 0: never.
 */
void chip_stick_from(struct chip *chip, uint64_t nth);

/*
 * Power goes: what is under way stays half done (array.h), and the part is silent. Bus lines that
 * nothing drives read as ones, and no command breaks a rule.
 */
void chip_power_off(struct chip *chip, uint64_t at_ns);

/* Volatile registers begin anew, and the part is not ready before its power-up times are over. */
void chip_power_on(struct chip *chip, uint64_t at_ns);

void chip_power_cycle(struct chip *chip, uint64_t at_ns);

/* NTH[,PERCENT%|,NS[,OFF_NS]] such as 3 or 3,50% or 3,1500,2000000. -EINVAL for other text. */
int power_cut_parse(const char *text, struct power_cut *cut);

/* Returns the time from the beginning of a busy time of @work_ns. */
uint64_t power_cut_after_ns(const struct power_cut *cut, uint64_t work_ns);

/* Does that by itself during the busy time that @cut names, of those that begin from now on. */
void chip_plan_power_cut(struct chip *chip, const struct power_cut *cut);

/*
 * A transfer as it passes, for parts on an SPI bus: chip select falls, bytes pass in both
 * directions, chip select rises. A reply is what the part drives in the moment @now_ns of its byte,
 * so each status byte is of its own moment. A command acts when chip select rises, and waits count
 * from there.
 *
 * Never fails: what the part would ignore is a fact, not an error.
 */
void chip_select(struct chip *chip, uint64_t now_ns);
uint8_t chip_exchange(struct chip *chip, uint64_t now_ns, uint8_t value);

/*
 * Returns the byte that the part drives next, and leaves no trace. A client that takes bits has
 * seen it before it drove the last bit of its own byte, with which chip_exchange() is called then.
 */
uint8_t chip_preview(struct chip *chip, uint64_t now_ns);

/*
 * Before a command: chip select is that of the part with @address, of parts that have one each. Has
 * no effect on any other part.
 */
void chip_select_die(struct chip *chip, uint32_t address);

/* Chip select is about to rise within a byte: then nothing but a reply is obeyed. */
void chip_cut_short(struct chip *chip);

/* Returns false if no byte passed: there are no facts. */
bool chip_deselect(struct chip *chip, uint64_t now_ns, struct chip_facts *facts);

/* Returns how many bytes passed since chip select fell, and how many of them were a reply. */
size_t chip_passed_len(const struct chip *chip, size_t *reply_len);

/*
 * A whole one, of which all bytes pass in the moment that it begins, but those of a register that
 * is polled: they pass one after the other until it ends.
 */
void chip_transfer(
	struct chip *chip, const struct chip_transfer *transfer, struct chip_facts *facts);

/*
 * One cycle on the bus of a part that is none of SPI. Of the address a part takes the bits that it
 * decodes. LPC and FWH parts are seen at the top of 16 MiB, and have registers 4 MiB below that.
 * A read returns status bits while the part is busy, and that breaks no rule.
 */
void chip_write_cycle(struct chip *chip, uint64_t start_ns, uint64_t end_ns, uint32_t address,
	uint8_t value, struct chip_facts *facts);
uint8_t chip_read_cycle(struct chip *chip, uint64_t start_ns, uint64_t end_ns, uint32_t address,
	struct chip_facts *facts);

/*
 * @len reads in a row, each as long as a cycle of the part takes. @facts are those of the first
 * one, or of the first that broke a rule; facts->status is the last value.
 */
void chip_read_cycles(struct chip *chip, uint64_t start_ns, uint32_t address, uint8_t *out,
	size_t len, struct chip_facts *facts);

/* Finishes work whose time is over: to be called before the array is read from outside. */
void chip_settle(struct chip *chip, uint64_t now_ns);

/* NULL for CHIP_RULE_NONE and CHIP_WORK_NONE. */
const char *chip_rule_name(enum chip_rule rule);
const char *chip_work_name(enum chip_work work);

#endif
