/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "record/events.h"
#include "shared/number.h"

#define REALTIME_PRIORITY_DEFAULT 50
#define REALTIME_PRIORITY_MAX 99
#define WAKE_ROUNDS_DEFAULT 32
#define WAKE_ROUNDS_MAX 100000
#define RECORDS_DEFAULT (1u << 22) /* 0.8 GB of memory */
/* Leaves room for the records that one request may add past the bound. */
#define RECORDS_MAX (EVENTS_COUNT_MAX - (1u << 17))
#define SCRIPTED "scripted"
#define SCRIPTED_STEP_NS 1000
#define SCRIPTED_STEP_NS_MAX UINT64_C(1000000000000)

#define FIRST_OPTION 256 /* above what getopt_long() itself returns */

/* An option, and what it does with its argument, which is NULL if it has none. */
struct row {
	const char *name;
	int argument; /* as getopt_long() wants it */
	enum options_status (*apply)(const struct row *row, char *text, struct options *options);
	size_t field; /* the offset of the field that it sets */
	size_t field_bytes;
	uint64_t min;
	uint64_t max;
	size_t given;  /* the offset of a bool that becomes true; 0: none */
	bool is_early; /* it takes effect before standby, so it is refused after that */
};

static const char help[] =
	"Usage: serprog-emu --chip NAME [OPTION]...\n"
	"Emulates a serprog programmer and a flash chip that is busy as long as the real part.\n"
	"Records every command that comes too early.\n"
	"\n"
	"Chip:\n"
	"  --chip NAME                 the part to emulate\n"
	"  --list-chips                print the parts, and what flashrom calls them\n"
	"  --corner min|typ|max        how long it is busy (default typ)\n"
	"  --corner zero               never busy: only round trips take time\n"
	"  --corner draw:SEED          between typ and max, drawn for each use\n"
	"  --corner slow:FACTOR        FACTOR times max, as a worn part\n"
	"  --seed N                    seeds faults by probability, reply-us, and bytes that a\n"
	"                              datasheet calls undefined (default 0)\n"
	"  --powered-up-ns-ago N       power came N ns before the start (default: long ago)\n"
	"  --power-cut N[,WHEN[,NS]]   power fails in the N-th busy time, WHEN into it (ns, or\n"
	"                              0% to 100%; default 50%), and stays off for NS (default:\n"
	"                              for ever)\n"
	"  --starts STATE              how the first client finds an SPI NOR: fresh (powered with "
	"its\n"
	"                              pins), ramp-1ms, ramp-10ms, ramp-100ms (its supply rises\n"
	"                              so long), resetting, asleep, erasing, suspending,\n"
	"                              erase-suspended, program-suspended, deaf-suspended,\n"
	"                              write-enabled, protected (default: ready)\n"
	"  --image-in FILE             the initial content (default: erased)\n"
	"  --image-offset BYTES        the chip address at which FILE begins (default 0)\n"
	"  --image-out FILE            write the whole content at the end\n"
	"  --image-out-sparse FILE     the same, without the erased 4 KiB granules\n"
	"\n"
	"Programmer:\n"
	"  --listen tcp:ADDR:PORT      IPv4; port 0 takes a free one (default tcp:127.0.0.1:0)\n"
	"  --listen unix:PATH          a socket in the file system, removed at the end\n"
	"  --listen pty[:LINK]         a terminal, with a link to it; its name is printed\n"
	"  --allow-remote              allow an ADDR that other machines can reach\n"
	"  --clients N                 end after N connections, 0: never (default 1)\n"
	"  --second-client wait|refuse what to do with a client while another one is connected\n"
	"                              (default wait)\n"
	"  --native-delay              offer O_DELAY of serprog (default: the client must wait)\n"
	"  --spi-wire-time             transfers take time, by the SPI frequency that is set\n"
	"\n"
	"Link (--link PRESET, KEY=N,... or PRESET,KEY=N,...; default: no time, its own limits):\n"
	"  baud=N                      bytes take time on a serial line\n"
	"  reply-us=MIN-MAX            each reply takes so much longer, drawn by --seed\n"
	"  usb-frame-us=N              replies leave at USB frames: 1000, or 125 at high speed\n"
	"  serial-buffer=N, opbuf=N    reported buffer sizes; what does not fit into opbuf is\n"
	"                              refused\n"
	"  write-max=N, read-max=N     the longest transfers; longer ones are refused\n"
	"  cs-late-us=N                chip select rises N us after the reply is sent\n"
	"  silent=1                    no answer to opcodes that are not supported\n"
	"  ack-first=1                 settings are acknowledged before their arguments\n"
	"  ack-bytes=N                 a longer read has an ACK before each N bytes\n"
	"  real-write=N                bytes of a write after the first N are lost\n"
	"  no-pin-state=1, no-bustype=1, spi-modes=1\n"
	"                              opcodes removed from and added to the command map\n"
	"  delay-at-once=1, delay-silent=1, exec-acks=1, delay-down-us=N, delay-up-us=N\n"
	"                              how O_DELAY and O_EXEC run, reply and round\n"
	"  PRESET                      a firmware: rig/docs/reference/serprog-emulator.md\n"
	"\n"
	"Faults (--fault KIND[:US]@WHEN, up to 8; same --seed, same faults):\n"
	"  drop, corrupt, duplicate    a byte of a reply, or of a request with in: before WHEN\n"
	"  delay:US                    a reply is late; the chip has done its work in time\n"
	"  stall[:US]                  a request is not handled for US, or never\n"
	"  hang-up, nak                a request closes the connection, or is refused\n"
	"  stuck-wip                   a busy time and all later ones never end\n"
	"  WHEN                        N: the N-th byte, request or busy time; p=P: each with\n"
	"                              probability P, such as p=0.001 (not for stuck-wip)\n"
	"\n"
	"Time and records:\n"
	"  --clock monotonic|COUNTER   the clock of chip and records (default monotonic);\n"
	"                              COUNTER is the CPU's own: tsc (x86), cntvct (arm64)\n"
	"                              or rdtime (riscv64), right only in QEMU with -icount\n"
	"  --clock scripted[:NS]       for tests: each request takes NS (default 1000), and waits\n"
	"                              return at once\n"
	"  --events FILE               write the records as JSON lines at the end\n"
	"  --records-max N             hang up on the client at this number of records, and end\n"
	"                              (default 4194304)\n"
	"  --realtime[=PRIO]           SCHED_FIFO and locked memory (default priority 50)\n"
	"  --cpu N                     run on CPU N only\n"
	"  --measure-wake N            measure the wake-up latency N times before being ready\n"
	"                              (default 32 with --realtime, else 0)\n"
	"\n"
	"For the program that starts it:\n"
	"  --ready-fd FD               write `PORT\\n` there once listening, and close it\n"
	"  --barrier-fds OUT,IN        at each connection write a byte to OUT, wait for one on IN\n"
	"  --standby OUT,IN            prepare what is the same for all chips, write a byte to\n"
	"                              OUT, then read the other options from IN to its end,\n"
	"                              with a NUL after each\n"
	"  --help                      print this text\n"
	"\n"
	"Exit: 0 done, also by SIGTERM or SIGINT; 2 bad usage; 99 the emulator failed.\n";

static enum options_status bad(const char *option, const char *problem, const char *remedy)
{
	fprintf(stderr, "serprog-emu: --%s: %s; %s\n", option, problem, remedy);
	return OPTIONS_BAD;
}

static enum options_status parse_number(
	const char *option, const char *text, uint64_t min, uint64_t max, uint64_t *number)
{
	char remedy[80];

	if (number_parse(text, 0, min, max, number))
		return OPTIONS_RUN;
	snprintf(remedy, sizeof(remedy), "give a whole number from %llu to %llu",
		(unsigned long long)min, (unsigned long long)max);
	return bad(option, "not such a number", remedy);
}

/* Sets a field of 4 or 8 bytes, signed or not. */
static enum options_status set_number(const struct row *row, char *text, struct options *options)
{
	char *field = (char *)options + row->field;
	uint64_t number;
	enum options_status status = parse_number(row->name, text, row->min, row->max, &number);

	if (status == OPTIONS_RUN && row->field_bytes == sizeof(uint32_t))
		*(uint32_t *)(void *)field = (uint32_t)number;
	else if (status == OPTIONS_RUN)
		*(uint64_t *)(void *)field = number;
	return status;
}

static enum options_status set_text(const struct row *row, char *text, struct options *options)
{
	*(const char **)(void *)((char *)options + row->field) = text;
	return OPTIONS_RUN;
}

static enum options_status set_switch(const struct row *row, char *text, struct options *options)
{
	(void)text;
	*(bool *)((char *)options + row->field) = true;
	return OPTIONS_RUN;
}

static enum options_status set_chip(const struct row *row, char *text, struct options *options)
{
	char remedy[128];

	options->part = part_find(text);
	if (options->part)
		return OPTIONS_RUN;
	snprintf(remedy, sizeof(remedy), "the nearest name is %s, --list-chips prints them all",
		part_nearest(text)->name);
	return bad(row->name, "no such chip", remedy);
}

static enum options_status set_corner(const struct row *row, char *text, struct options *options)
{
	if (corner_parse(text, &options->corner) < 0)
		return bad(row->name, "no such corner",
			"give min, typ, max, zero, draw:SEED or slow:FACTOR with a FACTOR from 1 "
			"to 1000");
	return OPTIONS_RUN;
}

/* Reads the rest of `scripted` or `scripted:NS`. */
static enum options_status set_scripted_clock(const char *text, struct options *options)
{
	options->clock_source = CLOCK_SOURCE_SCRIPTED;
	options->clock_step_ns = SCRIPTED_STEP_NS;
	if (*text == '\0')
		return OPTIONS_RUN;
	if (*text != ':')
		return bad("clock", "no such clock", "give scripted or scripted:NS");
	return parse_number("clock", text + 1, 1, SCRIPTED_STEP_NS_MAX, &options->clock_step_ns);
}

static enum options_status set_power_cut(const struct row *row, char *text, struct options *options)
{
	if (power_cut_parse(text, &options->power_cut) < 0)
		return bad(row->name, "no such power cut",
			"give N, N,NS or N,PERCENT%, and a further ,NS for how long power is off");
	return OPTIONS_RUN;
}

static enum options_status set_start(const struct row *row, char *text, struct options *options)
{
	if (start_state_parse(text, &options->start_state) < 0)
		return bad(row->name, "no such state", "--help names them");
	return OPTIONS_RUN;
}

static enum options_status set_clock(const struct row *row, char *text, struct options *options)
{
	static const enum clock_source sources[] = {CLOCK_SOURCE_MONOTONIC, CLOCK_SOURCE_COUNTER};

	if (strncmp(text, SCRIPTED, strlen(SCRIPTED)) == 0)
		return set_scripted_clock(text + strlen(SCRIPTED), options);
	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
		if (strcmp(text, clock_source_name(sources[i])) == 0) {
			options->clock_source = sources[i];
			return OPTIONS_RUN;
		}
	}
	return bad(row->name, "no such clock",
		"give monotonic, scripted[:NS], or the "
		"counter of this CPU: tsc (x86), cntvct (arm64) or rdtime (riscv64)");
}

/* Reads OUT,IN: we write to OUT and read from IN. */
static enum options_status set_fd_pair(const struct row *row, char *text, struct options *options)
{
	struct fd_pair *fds = (void *)((char *)options + row->field);
	char *comma = strchr(text, ',');
	uint64_t out;
	uint64_t in;

	if (comma)
		*comma = '\0';
	if (!comma || !number_parse(text, 0, 0, INT_MAX, &out) ||
		!number_parse(comma + 1, 0, 0, INT_MAX, &in))
		return bad(row->name, "not two numbers", "give OUT,IN such as 5,6");
	*fds = (struct fd_pair){(int)out, (int)in};
	return OPTIONS_RUN;
}

static enum options_status set_listen(const struct row *row, char *text, struct options *options)
{
	if (listener_parse(text, &options->listen) < 0)
		return bad(row->name, "not an address",
			"give tcp:ADDR:PORT such as tcp:127.0.0.1:0, unix:PATH or pty[:LINK]");
	return OPTIONS_RUN;
}

static enum options_status set_second_client(
	const struct row *row, char *text, struct options *options)
{
	options->refuses = strcmp(text, "refuse") == 0;
	if (options->refuses || strcmp(text, "wait") == 0)
		return OPTIONS_RUN;
	return bad(row->name, "neither wait nor refuse", "give one of them");
}

static enum options_status set_link(const struct row *row, char *text, struct options *options)
{
	if (link_model_parse(text, &options->device.link) < 0)
		return bad(row->name, "no such link",
			"give PRESET, KEY=N,... or PRESET,KEY=N,...; "
			"--help names the keys and presets");
	options->link_words = text;
	return OPTIONS_RUN;
}

/* The seed may be given later: conclude() passes it to the faults. */
static enum options_status add_fault(const struct row *row, char *text, struct options *options)
{
	switch (faults_add(&options->faults, text)) {
	case 0:
		return OPTIONS_RUN;
	case -ENOSPC:
		return bad(row->name, "too many", "give no more than 8");
	default:
		return bad(row->name, "no such fault",
			"give KIND[:US]@WHEN such as drop@5 or delay:2000@p=0.01; "
			"--help names the kinds");
	}
}

static enum options_status set_realtime(const struct row *row, char *text, struct options *options)
{
	options->realtime_priority = REALTIME_PRIORITY_DEFAULT;
	return text ? set_number(row, text, options) : OPTIONS_RUN;
}

static enum options_status list_chips(const struct row *row, char *text, struct options *options)
{
	(void)row;
	(void)text;
	(void)options;
	for (size_t i = 0; i < part_table_count; i++) {
		const struct part *part = &part_table[i];

		printf("%s\t%s\t%u KiB", part->name, part->vendor, part->size_bytes / 1024);
		for (const char *const *name = part_flashrom_names(part); *name; name++)
			printf("\t%s", *name);
		printf("\n");
	}
	return OPTIONS_DONE;
}

static enum options_status print_help(const struct row *row, char *text, struct options *options)
{
	(void)row;
	(void)text;
	(void)options;
	fputs(help, stdout);
	return OPTIONS_DONE;
}

#define FIELD(name_)                                                                               \
	.field = offsetof(struct options, name_),                                                  \
	.field_bytes = sizeof(((struct options *)NULL)->name_)
#define NUMBER(name_, min_, max_)                                                                  \
	required_argument, .apply = set_number, FIELD(name_), .min = (min_), .max = (max_)
#define TEXT(name_) required_argument, .apply = set_text, FIELD(name_)
#define SWITCH(name_) no_argument, .apply = set_switch, FIELD(name_)
#define FDS(name_) required_argument, .apply = set_fd_pair, FIELD(name_)
#define GIVEN(name_) .given = offsetof(struct options, name_)

static const struct row rows[] = {
	{"chip", required_argument, .apply = set_chip},
	{"list-chips", no_argument, .apply = list_chips},
	{"corner", required_argument, .apply = set_corner},
	{"seed", NUMBER(seed, 0, UINT64_MAX)},
	{"powered-up-ns-ago", NUMBER(powered_up_ns_ago, 0, UINT64_MAX), GIVEN(power_up_given)},
	{"power-cut", required_argument, .apply = set_power_cut},
	{"starts", required_argument, .apply = set_start},
	{"listen", required_argument, .apply = set_listen, .is_early = true},
	{"allow-remote", SWITCH(allow_remote), .is_early = true},
	{"clock", required_argument, .apply = set_clock, .is_early = true},
	{"events", TEXT(events_path)},
	{"image-in", TEXT(image_in_path)},
	{"image-offset", NUMBER(image_offset_bytes, 0, UINT_MAX)},
	{"image-out", TEXT(image_out_path)},
	{"image-out-sparse", TEXT(image_out_sparse_path)},
	{"second-client", required_argument, .apply = set_second_client},
	{"link", required_argument, .apply = set_link},
	{"fault", required_argument, .apply = add_fault},
	{"native-delay", SWITCH(device.native_delay)},
	{"spi-wire-time", SWITCH(device.spi_wire_time)},
	{"realtime", optional_argument, .apply = set_realtime, FIELD(realtime_priority), .min = 1,
		.max = REALTIME_PRIORITY_MAX, .is_early = true},
	{"cpu", NUMBER(cpu, 0, CPU_SETSIZE - 1), GIVEN(cpu_given)},
	{"ready-fd", NUMBER(ready_fd, 0, INT_MAX)},
	{"barrier-fds", FDS(barrier)},
	{"standby", FDS(standby), .is_early = true},
	{"clients", NUMBER(client_count, 0, UINT_MAX)},
	{"measure-wake", NUMBER(wake_round_count, 0, WAKE_ROUNDS_MAX), GIVEN(wake_given)},
	{"records-max", NUMBER(records_max, 1, RECORDS_MAX)},
	{"help", no_argument, .apply = print_help},
};

#define ROW_COUNT (sizeof(rows) / sizeof(rows[0]))

static enum options_status apply(int option, char *text, bool late, struct options *options)
{
	const struct row *row;

	if (option < FIRST_OPTION) {
		fprintf(stderr, "serprog-emu: --help prints the options\n");
		return OPTIONS_BAD;
	}
	row = &rows[option - FIRST_OPTION];
	if (late && row->is_early)
		return bad(row->name, "too late", "give it before --standby");
	if (row->given)
		*(bool *)((char *)options + row->given) = true;
	return row->apply(row, text, options);
}

static enum options_status check_chip(const struct options *options)
{
	if (!options->part)
		return bad("chip", "missing", "name a part, --list-chips prints them");
	if (options->image_offset_bytes >= options->part->size_bytes)
		return bad("image-offset", "past the end of the chip", "give a smaller offset");
	if (options->device.link.buses && !(options->device.link.buses & device_bus(options->part)))
		return bad("link", "this firmware has no bus of that chip",
			"take frser-atmega644 (parallel), frser-m328lpcspi (LPC, FWH), or keys "
			"such as baud=115200");
	if (!start_state_fits(options->start_state, options->part))
		return bad("starts", "this chip cannot be found like that",
			"take another state, or another --chip");
	if (options->image_offset_bytes > 0 && !options->image_in_path)
		return bad("image-offset", "nothing to place there", "add --image-in FILE");
	return OPTIONS_RUN;
}

static enum options_status check_machine(const struct options *options)
{
	if (!options->allow_remote && !listener_is_local(&options->listen))
		return bad("listen", "other machines could reach that address",
			"listen on 127.0.0.1, or add --allow-remote");
	if (options->clock_source == CLOCK_SOURCE_SCRIPTED && options->wake_round_count > 0)
		return bad("measure-wake", "a scripted clock cannot measure",
			"give 0, or another --clock");
	return OPTIONS_RUN;
}

static enum options_status read_words(int argc, char *argv[], bool late, struct options *options)
{
	struct option known[ROW_COUNT + 1] = {{0}};
	int option;

	for (size_t i = 0; i < ROW_COUNT; i++)
		known[i] = (struct option){
			rows[i].name, rows[i].argument, NULL, FIRST_OPTION + (int)i};
	optind = 0; /* getopt_long() begins again: it may have parsed another line before */
	while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
		enum options_status status = apply(option, optarg, late, options);

		if (status != OPTIONS_RUN)
			return status;
	}
	if (optind == argc)
		return OPTIONS_RUN;
	fprintf(stderr, "serprog-emu: %s: not an option; --help prints them\n", argv[optind]);
	return OPTIONS_BAD;
}

/* Sets the fields that depend on several options, whose order does not matter. */
static void conclude(struct options *options)
{
	options->faults.seed = options->seed;
	options->device.native_delay |= options->device.link.native_delay;
}

enum options_status options_parse(int argc, char *argv[], struct options *options)
{
	enum options_status status;

	*options = (struct options){
		.corner = {.kind = CORNER_TYP},
		.clock_source = CLOCK_SOURCE_MONOTONIC,
		.cpu = -1,
		.ready_fd = -1,
		.barrier = {-1, -1},
		.standby = {-1, -1},
		.client_count = 1,
		.records_max = RECORDS_DEFAULT,
	};
	(void)listener_parse("tcp:127.0.0.1:0", &options->listen);
	status = read_words(argc, argv, false, options);
	if (!options->wake_given && options->realtime_priority > 0)
		options->wake_round_count = WAKE_ROUNDS_DEFAULT;
	conclude(options);
	if (status == OPTIONS_RUN)
		status = check_machine(options);
	return status == OPTIONS_RUN && options->standby.in < 0 ? check_chip(options) : status;
}

enum options_status options_parse_rest(int argc, char *argv[], struct options *options)
{
	enum options_status status;

	options->cpu_given = false;
	options->wake_given = false;
	status = read_words(argc, argv, true, options);
	conclude(options);
	if (status == OPTIONS_RUN)
		status = check_machine(options);
	return status == OPTIONS_RUN ? check_chip(options) : status;
}
