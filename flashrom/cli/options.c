/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <getopt.h>
#include <string.h>

#include "cli.h"
#include "programmer.h"
#include "text.h"

enum long_only {
	OPT_NO_REALTIME = 256,
	OPT_PROGRESS,
	OPT_FLASH_NAME,
	OPT_FLASH_SIZE,
	OPT_FLASH_CONTENTS,
	OPT_NOT_HERE, /* an option of upstream flashrom only */
};

static const char short_options[] = ":p:c:r::w::v::El:i:VNnfo:LhRx::z";

static const struct option long_options[] = {
	{"programmer", required_argument, NULL, 'p'},
	{"chip", required_argument, NULL, 'c'},
	{"read", optional_argument, NULL, 'r'},
	{"write", optional_argument, NULL, 'w'},
	{"verify", optional_argument, NULL, 'v'},
	{"erase", no_argument, NULL, 'E'},
	{"layout", required_argument, NULL, 'l'},
	{"include", required_argument, NULL, 'i'},
	{"verbose", no_argument, NULL, 'V'},
	{"noverify-all", no_argument, NULL, 'N'},
	{"noverify", no_argument, NULL, 'n'},
	{"force", no_argument, NULL, 'f'},
	{"output", required_argument, NULL, 'o'},
	{"list-supported", no_argument, NULL, 'L'},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, 'R'},
	{"no-realtime", no_argument, NULL, OPT_NO_REALTIME},
	{"progress", no_argument, NULL, OPT_PROGRESS},
	{"flash-name", no_argument, NULL, OPT_FLASH_NAME},
	{"flash-size", no_argument, NULL, OPT_FLASH_SIZE},
	{"flash-contents", required_argument, NULL, OPT_FLASH_CONTENTS},
	{"extract", optional_argument, NULL, OPT_NOT_HERE},
	{"fmap", no_argument, NULL, OPT_NOT_HERE},
	{"fmap-file", optional_argument, NULL, OPT_NOT_HERE},
	{"ifd", no_argument, NULL, OPT_NOT_HERE},
	{"image", optional_argument, NULL, OPT_NOT_HERE},
	{"list-supported-wiki", no_argument, NULL, OPT_NOT_HERE},
	{"sacrifice-ratio", optional_argument, NULL, OPT_NOT_HERE},
	{"wp-disable", no_argument, NULL, OPT_NOT_HERE},
	{"wp-enable", optional_argument, NULL, OPT_NOT_HERE},
	{"wp-list", no_argument, NULL, OPT_NOT_HERE},
	{"wp-range", optional_argument, NULL, OPT_NOT_HERE},
	{"wp-region", optional_argument, NULL, OPT_NOT_HERE},
	{"wp-status", no_argument, NULL, OPT_NOT_HERE},
	{NULL, 0, NULL, 0},
};

static const char usage[] =
	"Usage: flashrom -p PROGRAMMER [-c CHIP] [-r FILE | -w FILE | -v FILE | -E] [OPTION]...\n"
	"  -p, --programmer NAME:KEY=VALUE,...  the programmer, see below\n"
	"  -c, --chip NAME        look for this chip only\n"
	"  -r, --read [FILE]      read the chip into FILE\n"
	"  -w, --write [FILE]     write FILE to the chip\n"
	"  -v, --verify [FILE]    compare the chip with FILE\n"
	"  -E, --erase            erase the chip\n"
	"      --flash-name       print the chip's vendor and name\n"
	"      --flash-size       print the chip's size in bytes\n"
	"  -l, --layout FILE      the regions, one per line: START:END NAME (hexadecimal)\n"
	"  -i, --include NAME[:RFILE]\n"
	"                         only this region of the layout; may be repeated. RFILE holds "
	"the\n"
	"                         region alone; where each region has one, FILE may be left out\n"
	"      --flash-contents FILE\n"
	"                         for -w: do not read the chip, but assume that it holds FILE\n"
	"  -N, --noverify-all     verify the regions only, not what was restored around them\n"
	"  -n, --noverify         do not verify after writing\n"
	"  -f, --force            use the chip of -c even if the ID differs; go on if the\n"
	"                         protection cannot be cleared\n"
	"  -o, --output LOGFILE   write messages to LOGFILE, too\n"
	"  -V, --verbose          print more messages; may be repeated\n"
	"      --progress         show the progress in percent\n"
	"      --no-realtime      do not ask for realtime priority\n"
	"  -L, --list-supported   list chips and programmers\n"
	"  -h, --help             print this text\n"
	"  -R, --version          print the version and the delay threshold\n"
	"Exit: 0 success, 1 failure, 2 bad command line.\n"
	"Programmers:\n";

void options_usage(const struct log *log)
{
	/* In pieces, because log_emit() cuts long messages. */
	const size_t part = 512;

	for (size_t at = 0; at < sizeof(usage) - 1; at += part)
		log_info(log, "%.*s", (int)part, usage + at);
	for (size_t i = 0; programmer_drivers[i] != NULL; i++)
		log_info(log, "  -p %s\n", programmer_drivers[i]->usage);
}

static int set_operation(
	const struct log *log, struct options *options, enum operation operation, const char *file)
{
	if (options->operation != OPERATION_NONE) {
		log_error(log, "Only one of -r, -w, -v, -E, --flash-name, --flash-size, -L, -h "
			       "and -R at a time.\n");
		return -EINVAL;
	}
	options->operation = operation;
	options->file = file;
	return 0;
}

static int set_once(
	const struct log *log, const char **value, const char *argument, const char *name)
{
	if (*value != NULL) {
		log_error(log, "%s is given twice.\n", name);
		return -EINVAL;
	}
	*value = argument;
	return 0;
}

/* Splits "NAME:FILE" in place, in argv, which a program may change. */
static int add_include(const struct log *log, struct options *options, char *argument)
{
	char *colon = strchr(argument, ':');

	if (options->include_count == INCLUDES_MAX) {
		log_error(log, "More than %d regions (-i).\n", INCLUDES_MAX);
		return -EINVAL;
	}
	if (colon != NULL)
		*colon++ = '\0';
	if (argument[0] == '\0' || (colon != NULL && colon[0] == '\0')) {
		log_error(log, "-i takes NAME or NAME:FILE, neither of them empty.\n");
		return -EINVAL;
	}
	options->includes[options->include_count++] = (struct include){argument, colon};
	return 0;
}

/* Returns the file of -r, -w or -v: attached, or the next word if it is no option; or NULL. */
static char *take_file(int argc, char **argv, char *attached)
{
	if (attached != NULL || optind == argc || argv[optind][0] == '-')
		return attached;
	return argv[optind++];
}

/* `name` is the long option, or NULL for a short one. */
static int report_not_here(const struct log *log, int option, const char *name)
{
	static const char cause[] = "is not supported here, only by upstream flashrom";

	if (name != NULL)
		log_error(log, "--%s %s.\n", name, cause);
	else
		log_error(log, "-%c %s.\n", option, cause);
	return -EINVAL;
}

static int report_unknown(const struct log *log, const char *argument)
{
	struct nearest nearest = {.wanted = argument + strspn(argument, "-")};
	const char *near;

	for (const struct option *option = long_options; option->name != NULL; option++)
		nearest_offer(&nearest, option->name);
	near = strncmp(argument, "--", 2) == 0 ? nearest_found(&nearest) : NULL;
	if (near != NULL)
		log_error(log, "Unknown option %s. Did you mean --%s?\n", argument, near);
	else
		log_error(log, "Unknown option %s. See --help.\n", argument);
	return -EINVAL;
}

/*
 * Reports an unknown letter by itself. While getopt_long() has not finished a word of several
 * letters, optind still counts that word as the next one, so `word` is the word before it.
 */
static int report_refused(const struct log *log, const char *word)
{
	const char letter[] = {'-', (char)optopt, '\0'};

	if (optopt > 0 && optopt < 256 && strchr(short_options, optopt) == NULL)
		return report_unknown(log, letter);
	return report_unknown(log, word);
}

static int take_flag(struct options *options, int option)
{
	switch (option) {
	case 'V':
		options->verbosity++;
		return 0;
	case 'N':
		options->verify_all = false;
		return 0;
	case 'n':
		options->verify = false;
		return 0;
	case 'f':
		options->force = true;
		return 0;
	case OPT_NO_REALTIME:
		options->realtime = false;
		return 0;
	case OPT_PROGRESS:
		options->progress = true;
		return 0;
	default:
		return -EINVAL;
	}
}

static int take(const struct log *log, struct options *options, int option, char *argument)
{
	switch (option) {
	case 'r':
		return set_operation(log, options, OPERATION_READ, argument);
	case 'w':
		return set_operation(log, options, OPERATION_WRITE, argument);
	case 'v':
		return set_operation(log, options, OPERATION_VERIFY, argument);
	case 'E':
		return set_operation(log, options, OPERATION_ERASE, NULL);
	case 'L':
		return set_operation(log, options, OPERATION_LIST, NULL);
	case 'h':
		return set_operation(log, options, OPERATION_HELP, NULL);
	case 'R':
		return set_operation(log, options, OPERATION_VERSION, NULL);
	case OPT_FLASH_NAME:
		return set_operation(log, options, OPERATION_NAME, NULL);
	case OPT_FLASH_SIZE:
		return set_operation(log, options, OPERATION_SIZE, NULL);
	case OPT_FLASH_CONTENTS:
		return set_once(log, &options->held_file, argument, "--flash-contents");
	case 'p':
		return set_once(log, &options->programmer, argument, "-p/--programmer");
	case 'c':
		return set_once(log, &options->chip, argument, "-c/--chip");
	case 'l':
		return set_once(log, &options->layout, argument, "-l/--layout");
	case 'o':
		return set_once(log, &options->log_file, argument, "-o/--output");
	case 'i':
		return add_include(log, options, argument);
	default:
		return take_flag(options, option);
	}
}

static bool needs_programmer(const struct options *options)
{
	return options->operation <= OPERATION_SIZE;
}

static bool has_file(enum operation operation)
{
	return operation == OPERATION_READ || operation == OPERATION_WRITE ||
	       operation == OPERATION_VERIFY;
}

static bool lacks_file(const struct options *options)
{
	if (options->file != NULL || !has_file(options->operation))
		return false;
	for (size_t i = 0; i < options->include_count; i++) {
		if (options->includes[i].file == NULL)
			return true;
	}
	return options->include_count == 0;
}

static bool has_idle_region_file(const struct options *options)
{
	for (size_t i = 0; i < options->include_count; i++) {
		if (options->includes[i].file != NULL)
			return !has_file(options->operation);
	}
	return false;
}

static const char *find_lack(const struct options *options)
{
	if (needs_programmer(options) && options->programmer == NULL)
		return "Which programmer? Add -p, for example -p serprog:ip=localhost:2000.\n";
	if (options->include_count > 0 && options->layout == NULL)
		return "-i needs a layout to take its region from: add -l FILE.\n";
	if (lacks_file(options))
		return "Which file? It goes after -r, -w or -v, or, for each region, after its "
		       "name: -i NAME:FILE.\n";
	if (has_idle_region_file(options))
		return "A file for a region (-i NAME:FILE) needs -r, -w or -v.\n";
	if (options->held_file != NULL && options->operation != OPERATION_WRITE)
		return "--flash-contents needs -w.\n";
	return NULL;
}

static int check(const struct log *log, const struct options *options)
{
	const char *lack = find_lack(options);

	if (lack == NULL)
		return 0;
	log_error(log, "%s", lack);
	return -EINVAL;
}

static int take_one(int argc, char **argv, const struct log *log, struct options *options)
{
	int nth = -1;
	const int option = getopt_long(argc, argv, short_options, long_options, &nth);

	switch (option) {
	case -1:
		return 1;
	case ':':
		log_error(log, "%s needs a value. See --help.\n", argv[optind - 1]);
		return -EINVAL;
	case '?':
		return report_refused(log, argv[optind - 1]);
	case 'x':
	case 'z':
	case OPT_NOT_HERE:
		return report_not_here(log, option, nth < 0 ? NULL : long_options[nth].name);
	case 'r':
	case 'w':
	case 'v':
		return take(log, options, option, take_file(argc, argv, optarg));
	default:
		return take(log, options, option, optarg);
	}
}

static int take_all(int argc, char **argv, const struct log *log, struct options *options)
{
	int status;

	optind = 0; /* resets getopt_long() of glibc, which may have parsed another command line */
	do
		status = take_one(argc, argv, log, options);
	while (status == 0);
	if (status < 0)
		return status;
	if (optind == argc)
		return 0;
	log_error(
		log, "Unexpected argument \"%s\". A file goes after -r, -w or -v.\n", argv[optind]);
	return -EINVAL;
}

int options_parse(int argc, char **argv, const struct log *log, struct options *out)
{
	struct options options = {.verify = true, .verify_all = true, .realtime = true};
	int error = take_all(argc, argv, log, &options);

	if (error == 0)
		error = check(log, &options);
	if (error == 0)
		*out = options;
	return error;
}
