/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line of serprog-emu. */
#ifndef EMULATORS_SERPROG_OPTIONS_H
#define EMULATORS_SERPROG_OPTIONS_H

#include "clock.h"
#include "device.h"
#include "link/fault.h"
#include "listener.h"
#include "model/corner.h"
#include "model/part.h"
#include "model/start_state.h"
#include "server.h"

struct options {
	const struct part *part;
	struct corner corner;
	uint64_t seed;
	bool power_up_given;
	uint64_t powered_up_ns_ago;
	struct power_cut power_cut;
	enum start_state start_state;
	struct listener_address listen;
	bool allow_remote;
	bool refuses; /* hang up on a second client instead of letting it wait */
	enum clock_source clock_source;
	uint64_t clock_step_ns; /* the step of a scripted clock */
	struct device_options device;
	struct faults faults;
	const char *link_words; /* this and the paths below: NULL for none */
	const char *events_path;
	const char *image_in_path;
	uint32_t image_offset_bytes;
	const char *image_out_path;
	const char *image_out_sparse_path;
	int realtime_priority;     /* 0: keep the scheduling policy */
	int cpu;                   /* -1: any */
	bool cpu_given;            /* the options that were parsed last had --cpu */
	bool wake_given;           /* they had --measure-wake */
	int ready_fd;              /* -1: none */
	struct fd_pair barrier;    /* -1: no barrier */
	struct fd_pair standby;    /* -1: no standby */
	unsigned int client_count; /* 0: for ever */
	/* The number of events after which the server hangs up on its client */
	unsigned int records_max;
	unsigned int wake_round_count; /* 0: not measured */
};

enum options_status {
	OPTIONS_RUN,
	OPTIONS_DONE, /* the requested output is printed */
	OPTIONS_BAD,  /* the problem is printed */
};

/*
 * Reads the command line. The strings in @options are those of @argv. With --standby the chip may
 * still be missing.
 */
enum options_status options_parse(int argc, char *argv[], struct options *options);

/* Adds the options that came over --standby to @options; skips argv[0]. */
enum options_status options_parse_rest(int argc, char *argv[], struct options *options);

#endif
