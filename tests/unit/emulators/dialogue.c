/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dialogue.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/number.h"

#define WHOLE_BYTES_MAX (2 * DIALOGUE_LINE_BYTES_MAX + 8)
#define LEFT_COLUMNS 40
#define RUN_BYTES_MIN 4 /* this many equal bytes or more are printed as BYTE*FACTOR */

struct player {
	struct dialogue *dialogue;
	dialogue_run_fn run;
	void *context;
};

void put(struct dialogue *dialogue, const char *format, ...)
{
	size_t room = sizeof(dialogue->reaction) - dialogue->reaction_len;
	char *end = dialogue->reaction + dialogue->reaction_len;
	va_list arguments;
	int len;

	if (dialogue->reaction_len > 0) {
		*end++ = ' ';
		room--;
		dialogue->reaction_len++;
	}
	va_start(arguments, format);
	len = vsnprintf(end, room, format, arguments);
	va_end(arguments);
	if (len < 0 || (size_t)len >= room)
		abort();
	dialogue->reaction_len += (size_t)len;
}

void put_bytes(struct dialogue *dialogue, const uint8_t *bytes, size_t len)
{
	size_t run;

	for (size_t i = 0; i < len; i += run) {
		for (run = 1; i + run < len && bytes[i + run] == bytes[i];)
			run++;
		if (run >= RUN_BYTES_MIN)
			put(dialogue, "%02x*%zu", bytes[i], run);
		else
			put(dialogue, "%02x", bytes[i]);
		run = run >= RUN_BYTES_MIN ? run : 1;
	}
}

static void put_grade(struct dialogue *dialogue, enum grade grade)
{
	if (grade != GRADE_DATASHEET)
		put(dialogue, "%s", grade_name(grade));
}

/* Appends the broken rule, the margin of a wait, and the work that began. */
static void put_verdict(struct dialogue *dialogue, const struct chip_facts *facts)
{
	if (facts->rule != CHIP_RULE_NONE)
		put(dialogue, "rule=%s", chip_rule_name(facts->rule));
	if (facts->owed) {
		put(dialogue, "margin=%lld", (long long)facts->margin_ns);
		put_grade(dialogue, facts->grade);
	}
	if (facts->work != CHIP_WORK_NONE) {
		put(dialogue, "%s=%llu", chip_work_name(facts->work),
			(unsigned long long)facts->work_ns);
		put_grade(dialogue, facts->work_grade);
	}
}

void put_facts(struct dialogue *dialogue, const struct chip_facts *facts, uint64_t now_ns)
{
	if (facts->name)
		put(dialogue, "%s", facts->name);
	if (facts->has_address)
		put(dialogue, "@%x", (unsigned int)facts->address);
	put_verdict(dialogue, facts);
	if (facts->busy_left_ns > 0 && !facts->owed)
		put(dialogue, "left=%llu", (unsigned long long)facts->busy_left_ns);
	if (facts->stuck_nth > 0)
		put(dialogue, "stuck=%llu", (unsigned long long)facts->stuck_nth);
	if (facts->partial)
		put(dialogue, "partial");
	if (facts->lost_power)
		put(dialogue, "lost_power=%lld", (long long)(facts->lost_power_ns - now_ns));
}

char *next_word(void)
{
	return strtok(NULL, " ");
}

static bool take_number_of(int base, uint64_t max, uint64_t *number)
{
	char *word = next_word();

	*number = 0;
	return word && number_parse(word, base, 0, max, number);
}

bool take_number(uint64_t *number)
{
	return take_number_of(10, UINT64_MAX, number);
}

bool take_address(uint32_t *address)
{
	uint64_t number;
	bool known = take_number_of(16, UINT32_MAX, &number);

	*address = (uint32_t)number;
	return known;
}

bool take_time(const char *at, uint64_t end_ns, uint64_t *now_ns)
{
	bool from_end = strncmp(at, "end", 3) == 0;
	uint64_t ns = 0;

	at += from_end ? 3 : 0;
	if ((*at != '\0' || !from_end) &&
		((*at != '+' && *at != '-') || !number_parse(at + 1, 10, 0, INT64_MAX, &ns)))
		return false;
	*now_ns = (from_end ? end_ns : *now_ns) + (*at == '-' ? -ns : ns);
	return true;
}

/* Appends BYTE or BYTE*FACTOR. */
static bool add_bytes(struct transfer *transfer, const char *word)
{
	uint64_t value, count = 1;

	if (!number_begins(word, 16, UINT8_MAX, &word, &value) ||
		(*word && (*word != '*' || !number_parse(word + 1, 10, 1, UINT64_MAX, &count))) ||
		count > sizeof(transfer->bytes) - transfer->len)
		return false;
	memset(transfer->bytes + transfer->len, (int)value, count);
	transfer->len += count;
	return true;
}

bool take_range(uint32_t *address, size_t *len)
{
	uint64_t count;

	if (!take_address(address) || !take_number(&count) || count > DIALOGUE_BYTES_MAX)
		return false;
	*len = (size_t)count;
	return *len > 0;
}

static bool add_word(struct transfer *transfer, const char *word)
{
	switch (*word) {
	case 'r':
		return number_parse(word + 1, 10, 0, SIZE_MAX, &transfer->reply_len);
	case 't':
		return number_parse(word + 1, 10, 0, INT64_MAX, &transfer->wire_ns);
	default:
		return add_bytes(transfer, word);
	}
}

bool transfer_parse(const char *first, struct transfer *transfer)
{
	memset(transfer, 0, sizeof(*transfer));
	for (const char *word = first; word; word = next_word()) {
		if (!add_word(transfer, word))
			return false;
	}
	return true;
}

bool take_transfer(struct transfer *transfer)
{
	return transfer_parse(next_word(), transfer);
}

bool load_array(struct array *array)
{
	struct transfer transfer;
	uint32_t address;

	if (!take_address(&address) || !take_transfer(&transfer))
		return false;
	array_load(array, address, transfer.bytes, transfer.len);
	return transfer.len > 0;
}

/* Plays the line, and writes it to @whole with the reaction of the code under test. */
static bool play_line(const struct player *player, const char *line, char whole[WHOLE_BYTES_MAX])
{
	struct dialogue *dialogue = player->dialogue;
	char left[DIALOGUE_LINE_BYTES_MAX];
	char words[DIALOGUE_LINE_BYTES_MAX];
	size_t len = strcspn(line, "|");
	char *first;
	bool known;

	while (len > 0 && line[len - 1] == ' ')
		len--;
	snprintf(left, sizeof(left), "%.*s", (int)len, line);
	memcpy(words, left, sizeof(words));
	dialogue->reaction_len = 0;
	dialogue->reaction[0] = '\0';
	first = strtok(words, " ");
	if (!first || *first == '#') {
		snprintf(whole, WHOLE_BYTES_MAX, "%s", line);
		return true;
	}
	known = player->run(player->context, first);
	if (dialogue->reaction_len == 0)
		snprintf(whole, WHOLE_BYTES_MAX, "%s", left);
	else
		snprintf(whole, WHOLE_BYTES_MAX, "%-*s | %s", LEFT_COLUMNS, left,
			dialogue->reaction);
	return known;
}

static int play(const struct player *player, const char *path, bool print)
{
	FILE *file = fopen(path, "r");
	char line[DIALOGUE_LINE_BYTES_MAX];
	char whole[WHOLE_BYTES_MAX];
	unsigned int number = 0;
	int failures = 0;

	if (!file) {
		perror(path);
		return 1;
	}
	while (fgets(line, sizeof(line), file)) {
		bool same;

		number++;
		line[strcspn(line, "\n")] = '\0';
		if (!play_line(player, line, whole)) {
			fprintf(stderr, "%s:%u: no such action, or bad words: %s\n", path, number,
				line);
			failures++;
			continue;
		}
		same = strcmp(line, whole) == 0;
		if (print)
			puts(whole);
		else if (!same)
			fprintf(stderr, "%s:%u: expected: %s\n%s:%u: found:    %s\n", path, number,
				line, path, number, whole);
		failures += !print && !same;
	}
	fclose(file);
	return failures;
}

int dialogue_main(
	int argc, char *argv[], struct dialogue *dialogue, dialogue_run_fn run, void *context)
{
	const struct player player = {.dialogue = dialogue, .run = run, .context = context};
	bool print = argc > 1 && strcmp(argv[1], "--print") == 0;
	int failures = 0;

	for (int i = 1 + print; i < argc; i++)
		failures += play(&player, argv[i], print);
	return failures == 0 && argc > 1 + print ? 0 : 1;
}
