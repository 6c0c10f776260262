/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests the agent's part of the conversation in cells that cannot begin. */
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../run_cases.h"

int live_agent_main(void);

#define main live_agent_main
#include "live_agent.c"
#undef main

/* These words are what the host says in each conversation. */
#define HOST_SAYS "go\nfinish\n"
#define TO_THE_END "ready\nended\n"

struct fixture {
	struct report report;
	struct spec spec;
	int channel;
	int host;
	/* The results of these steps. */
	int takes_in;
	int begins;
	int starts;
};

static void set_up(struct fixture *fixture)
{
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	fixture->channel = fds[0];
	fixture->host = fds[1];
	assert_int_equal(write(fixture->host, HOST_SAYS, strlen(HOST_SAYS)), strlen(HOST_SAYS));
	fixture->report.lines = open_memstream(&fixture->report.text, &fixture->report.bytes);
	assert_non_null(fixture->report.lines);
	fixture->spec.deadline_ms = 1000;
}

static void tear_down(struct fixture *fixture)
{
	close(fixture->channel);
	close(fixture->host);
	fclose(fixture->report.lines);
	free(fixture->report.text);
}

FIXTURE(fixture, set_up, tear_down);

int cell_take_in(const struct window *window, struct report *report, struct spec *spec)
{
	(void)window;
	(void)spec;
	return report_failure(report, "no cell", fixture_of_case.takes_in);
}

int hazards_begin(
	struct hazards *hazards, const struct spec *spec, struct report *report, pid_t emulator)
{
	(void)emulator;
	*hazards = (struct hazards){.spec = spec, .report = report};
	return report_failure(report, "no hazard", fixture_of_case.begins);
}

void hazards_end(struct hazards *hazards)
{
	(void)hazards;
}

uint64_t hazards_due_ns(const struct hazards *hazards, uint64_t deadline_ns)
{
	(void)hazards;
	return deadline_ns;
}

void hazards_run_due(struct hazards *hazards)
{
	(void)hazards;
}

int cell_start_subject(struct hazards *hazards, pid_t *subject)
{
	(void)hazards;
	*subject = 0;
	return fixture_of_case.starts;
}

void cell_subject_accepted(struct hazards *hazards)
{
	(void)hazards;
}

void cell_end_subject(struct hazards *hazards, uint64_t deadline_ns)
{
	(void)hazards;
	(void)deadline_ns;
	fail_msg("no subject runs");
}

void cell_send(const struct window *window, const struct spec *spec, struct report *report)
{
	(void)window;
	(void)spec;
	(void)report;
}

/* Checks what the agent says, and that it reports this reason and no other. */
static void assert_ends_with_reason(struct fixture *fixture, const char *reason)
{
	char said[64] = "";

	run_cell(NULL, fixture->channel, &fixture->report, &fixture->spec);
	shutdown(fixture->channel, SHUT_WR);
	assert_true(read(fixture->host, said, sizeof(said) - 1) >= 0);
	assert_string_equal(said, TO_THE_END);
	fflush(fixture->report.lines);
	assert_non_null(strstr(fixture->report.text, reason));
	assert_null(strchr(strchr(fixture->report.text, '\n') + 1, '\n'));
}

TEST_ON(fixture, hazard_that_cannot_begin_ends_the_cell)
{
	fixture->begins = -EINVAL;
	assert_ends_with_reason(fixture, "no hazard");
}

TEST_ON(fixture, subject_that_cannot_start_ends_the_cell)
{
	fixture->starts = -EPERM;
	assert_ends_with_reason(fixture, "the subject did not start");
}

TEST_ON(fixture, cell_that_cannot_be_taken_in_is_ended)
{
	fixture->takes_in = -ENOENT;
	assert_ends_with_reason(fixture, "no cell");
}
