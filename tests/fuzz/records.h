/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes the records of a run to memory, and checks that this succeeds. */
#ifndef TESTS_FUZZ_RECORDS_H
#define TESTS_FUZZ_RECORDS_H

#include "fuzz.h"
#include "record/events.h"

static inline void fuzz_write_records(
	const struct run_facts *facts, const struct events *events, const struct run_end *end)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);

	FUZZ_CHECK(out != NULL && jsonl_write(out, facts, events, end) == 0);
	FUZZ_CHECK(fclose(out) == 0 && bytes > 0 && text[bytes - 1] == '\n');
	free(text);
}

#endif
