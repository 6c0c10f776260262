/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <getopt.h>
#include <string.h>

#include "cli.h"
#include "programmer.h"
#include "text.h"

enum long_only {
	OPT_VERSION = 256,
	OPT_NO_REALTIME,
};

static const char short_options[] = ":p:c:r:w:v:El:i:VNnfo:Lh";

static const struct option long_options[] = {
	{"programmer", required_argument, NULL, 'p'},
	{"chip", required_argument, NULL, 'c'},
	{"read", required_argument, NULL, 'r'},
	{"write", required_argument, NULL, 'w'},
	{"verify", required_argument, NULL, 'v'},
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
	{"version", no_argument, NULL, OPT_VERSION},
	{"no-realtime", no_argument, NULL, OPT_NO_REALTIME},
	{NULL, 0, NULL, 0},
};

static const char usage[] =
	"Usage: flashrom -p PROGRAMMER [-c CHIP] [-r FILE | -w FILE | -v FILE | -E] [OPTION]...\n"
	"  -p, --programmer NAME:KEY=VALUE,...  the programmer, see below\n"
	"  -c, --chip NAME        take the chip to be this one\n"
	"  -r, --read FILE        read the chip into FILE\n"
	"  -w, --write FILE       make the chip hold FILE\n"
	"  -v, --verify FILE      compare the chip with FILE\n"
	"  -E, --erase            blank the chip\n"
	"  -l, --layout FILE      regions, a line each: START:END NAME (hexadecimal)\n"
	"  -i, --include NAME     only this region of the layout; may be repeated\n"
	"  -N, --noverify-all     verify the regions only, not what was put back around them\n"
	"  -n, --noverify         do not verify after writing\n"
	"  -f, --force            trust -c against the ID, and go on when protection stays\n"
	"  -o, --output LOGFILE   write all messages there too\n"
	"  -V, --verbose          tell more; may be repeated\n"
	"      --no-realtime      do not ask for realtime priority\n"
	"  -L, --list-supported   list chips and programmers\n"
	"  -h, --help             this text\n"
	"      --version          version and delay threshold\n"
	"Programmers:\n";

void options_usage(const struct log *log)
{
	/* In two halves: a message has a limit. */
	const size_t half = sizeof(usage) / 2;

	log_info(log, "%.*s", (int)half, usage);
	log_info(log, "%s", usage + half);
	for (size_t i = 0; programmer_drivers[i] != NULL; i++)
		log_info(log, "  -p %s\n", programmer_drivers[i]->usage);
}

static int set_operation(
	const struct log *log, struct options *options, enum operation operation, const char *file)
{
	if (options->operation != OPERATION_NONE) {
		log_error(log, "Only one of -r, -w, -v, -E, -L, -h and --version at a time.\n");
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

static int add_include(const struct log *log, struct options *options, const char *name)
{
	if (options->include_count == INCLUDES_MAX) {
		log_error(log, "More than %d regions (-i).\n", INCLUDES_MAX);
		return -EINVAL;
	}
	options->includes[options->include_count++] = name;
	return 0;
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
	case OPT_VERSION:
		return set_operation(log, options, OPERATION_VERSION, NULL);
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
	return options->operation <= OPERATION_ERASE;
}

static int check(const struct log *log, const struct options *options)
{
	const char *lack = NULL;

	if (needs_programmer(options) && options->programmer == NULL)
		lack = "Which programmer? Add -p, for example -p serprog:ip=localhost:2000.\n";
	else if (options->include_count > 0 && options->layout == NULL)
		lack = "-i needs a layout to take its region from: add -l FILE.\n";
	if (lack == NULL)
		return 0;
	log_error(log, "%s", lack);
	return -EINVAL;
}

static int take_all(int argc, char **argv, const struct log *log, struct options *options)
{
	int option;

	optind = 0; /* glibc: forget an earlier command line */
	while ((option = getopt_long(argc, argv, short_options, long_options, NULL)) != -1) {
		int error;

		if (option == ':') {
			log_error(log, "%s needs a value. See --help.\n", argv[optind - 1]);
			return -EINVAL;
		}
		if (option == '?')
			return report_unknown(log, argv[optind - 1]);
		error = take(log, options, option, optarg);
		if (error != 0)
			return error;
	}
	if (optind == argc)
		return 0;
	log_error(log, "What is \"%s\" for? A file goes after -r, -w or -v.\n", argv[optind]);
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
