/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Dialogues with one part of each family: golden/FAMILY.txt. A line has the client's action, `|`,
 * and the part's whole reaction:
 *
 *     part NAME CORNER            a new part, erased
 *     +NS op BYTE... rCOUNT       SPI: bytes out, bytes in
 *     +NS w ADDRESS BYTE...       cycles: a write each, from ADDRESS up
 *     +NS r ADDRESS COUNT         cycles: reads
 *     +NS power                   power goes and comes back
 *
 * NS pass since the line before; all numbers but NS and COUNT are hexadecimal. The model writes the
 * right side, which is compared byte by byte:
 *
 *     test_golden FILE...         exits with 0 if every line is the same
 *     test_golden --print FILE    prints the file as the model writes it
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "map_zeros.h"
#include "model/chip.h"

#define LINE_BYTES_MAX 512
#define COMMAND_COLUMNS 46
#define BYTES_MAX 64

struct dialogue {
	struct chip chip;
	void *memory;
	uint64_t now_ns;
	char out[LINE_BYTES_MAX];
	size_t out_len;
};

static void put(struct dialogue *dialogue, const char *text)
{
	size_t len = strlen(text);

	if (dialogue->out_len + len >= sizeof(dialogue->out))
		abort();
	memcpy(dialogue->out + dialogue->out_len, text, len + 1);
	dialogue->out_len += len;
}

static void put_word(struct dialogue *dialogue, const char *text)
{
	if (dialogue->out_len > 0)
		put(dialogue, " ");
	put(dialogue, text);
}

static void put_bytes(struct dialogue *dialogue, const uint8_t *bytes, size_t len)
{
	char text[4];

	for (size_t i = 0; i < len; i++) {
		snprintf(text, sizeof(text), "%02x", bytes[i]);
		put_word(dialogue, text);
	}
}

/* Prints the name, the wait or the broken rule, the work that began, and the status. */
static void put_facts(struct dialogue *dialogue, const struct chip_facts *facts)
{
	char text[96];

	put_word(dialogue, facts->name);
	if (facts->rule != CHIP_RULE_NONE) {
		snprintf(text, sizeof(text), "rule=%s", chip_rule_name(facts->rule));
		put_word(dialogue, text);
	}
	if (facts->owed) {
		snprintf(text, sizeof(text), "margin=%lld", (long long)facts->margin_ns);
		put_word(dialogue, text);
	}
	if (facts->work != CHIP_WORK_NONE) {
		snprintf(text, sizeof(text), "%s=%llu", chip_work_name(facts->work),
			(unsigned long long)facts->work_ns);
		put_word(dialogue, text);
	}
	if (facts->lost_power)
		put_word(dialogue, "lost_power");
}

static char *next_word(void)
{
	return strtok(NULL, " ");
}

static size_t take_bytes(uint8_t bytes[BYTES_MAX], size_t *reply_len)
{
	size_t len = 0;

	*reply_len = 0;
	for (char *word = next_word(); word && len < BYTES_MAX; word = next_word()) {
		if (*word == 'r')
			*reply_len = strtoul(word + 1, NULL, 10);
		else
			bytes[len++] = (uint8_t)strtoul(word, NULL, 16);
	}
	return len;
}

static bool run_op(struct dialogue *dialogue)
{
	uint8_t command[BYTES_MAX];
	uint8_t reply[BYTES_MAX];
	size_t reply_len;
	struct chip_transfer transfer = {
		.start_ns = dialogue->now_ns,
		.end_ns = dialogue->now_ns,
		.command = command,
		.reply = reply,
	};
	struct chip_facts facts;
	char status[8];

	transfer.command_len = take_bytes(command, &reply_len);
	transfer.reply_len = reply_len;
	if (transfer.command_len == 0 || reply_len > BYTES_MAX)
		return false;
	chip_transfer(&dialogue->chip, &transfer, &facts);
	put_bytes(dialogue, reply, reply_len);
	put_facts(dialogue, &facts);
	snprintf(status, sizeof(status), "sr=%02x", facts.status);
	put_word(dialogue, status);
	return true;
}

static bool take_address(uint32_t *address)
{
	char *word = next_word();

	*address = word ? (uint32_t)strtoul(word, NULL, 16) : 0;
	return word != NULL;
}

static bool run_write(struct dialogue *dialogue)
{
	uint64_t cycle_ns = dialogue->chip.part->parallel->cycle_ns;
	uint8_t bytes[BYTES_MAX];
	struct chip_facts facts;
	uint32_t address;
	size_t none;
	size_t len;

	if (!take_address(&address))
		return false;
	len = take_bytes(bytes, &none);
	for (size_t i = 0; i < len; i++) {
		chip_write_cycle(&dialogue->chip, dialogue->now_ns, dialogue->now_ns + cycle_ns,
			address + (uint32_t)i, bytes[i], &facts);
		dialogue->now_ns += cycle_ns;
	}
	if (len > 0)
		put_facts(dialogue, &facts);
	return len > 0;
}

static bool run_read(struct dialogue *dialogue)
{
	uint8_t reply[BYTES_MAX];
	struct chip_facts facts;
	uint32_t address;
	char *word;
	size_t len;

	if (!take_address(&address))
		return false;
	word = next_word();
	len = word ? strtoul(word, NULL, 10) : 0;
	if (len == 0 || len > BYTES_MAX)
		return false;
	chip_read_cycles(&dialogue->chip, dialogue->now_ns, address, reply, len, &facts);
	dialogue->now_ns += len * dialogue->chip.part->parallel->cycle_ns;
	put_bytes(dialogue, reply, len);
	put_facts(dialogue, &facts);
	return true;
}

static bool run_part(struct dialogue *dialogue)
{
	char *name = next_word();
	char *corner_text = next_word();
	const struct part *part = name ? part_find(name) : NULL;
	struct corner corner;

	if (!part || !corner_text || corner_parse(corner_text, &corner) < 0)
		return false;
	dialogue->memory = map_zeros(chip_memory_bytes(part)); /* kept until the program ends */
	dialogue->now_ns = UINT64_C(1000000000);
	chip_init(&dialogue->chip, part, &corner, dialogue->memory);
	return true;
}

static bool run_timed(struct dialogue *dialogue, const char *gap)
{
	char *verb = next_word();

	if (!verb || !dialogue->memory)
		return false;
	dialogue->now_ns += strtoull(gap + 1, NULL, 10);
	if (strcmp(verb, "op") == 0)
		return run_op(dialogue);
	if (strcmp(verb, "w") == 0)
		return run_write(dialogue);
	if (strcmp(verb, "r") == 0)
		return run_read(dialogue);
	if (strcmp(verb, "power") != 0)
		return false;
	chip_power_cycle(&dialogue->chip, dialogue->now_ns);
	return true;
}

/* Writes the whole line, as it should be, to dialogue->out. */
static bool run_line(struct dialogue *dialogue, const char *line)
{
	char left[LINE_BYTES_MAX];
	char words[LINE_BYTES_MAX];
	char result[LINE_BYTES_MAX];
	size_t len = strcspn(line, "|");
	char *first;
	bool known;

	while (len > 0 && line[len - 1] == ' ')
		len--;
	snprintf(left, sizeof(left), "%.*s", (int)len, line);
	snprintf(words, sizeof(words), "%s", left);
	dialogue->out_len = 0;
	dialogue->out[0] = '\0';
	first = strtok(words, " ");
	if (!first || *first == '#') {
		put(dialogue, line);
		return true;
	}
	known = *first == '+' ? run_timed(dialogue, first)
			      : strcmp(first, "part") == 0 && run_part(dialogue);
	snprintf(result, sizeof(result), "%s", dialogue->out);
	dialogue->out_len = 0;
	if (result[0] == '\0')
		put(dialogue, left);
	else
		dialogue->out_len = (size_t)snprintf(dialogue->out, sizeof(dialogue->out),
			"%-*s | %s", COMMAND_COLUMNS, left, result);
	return known;
}

static int replay(const char *path, bool print)
{
	struct dialogue dialogue = {.memory = NULL};
	FILE *file = fopen(path, "r");
	char line[LINE_BYTES_MAX];
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
		if (!run_line(&dialogue, line)) {
			fprintf(stderr, "%s:%u: no such thing to do: %s\n", path, number, line);
			failures++;
			continue;
		}
		same = strcmp(line, dialogue.out) == 0;
		if (print)
			puts(dialogue.out);
		else if (!same)
			fprintf(stderr, "%s:%u: stands there: %s\n%s:%u: the model:    %s\n", path,
				number, line, path, number, dialogue.out);
		failures += !print && !same;
	}
	fclose(file);
	return failures;
}

int main(int argc, char *argv[])
{
	bool print = argc > 1 && strcmp(argv[1], "--print") == 0;
	int failures = 0;

	for (int i = 1 + print; i < argc; i++)
		failures += replay(argv[i], print);
	return failures == 0 && argc > 1 ? 0 : 1;
}
