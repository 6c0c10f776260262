/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record.h"

static void begin(struct json_line *line, const char *kind)
{
	json_begin(line, NULL);
	json_text(line, "ev", kind);
}

static void put_moment(struct json_line *line, const struct moment *moment)
{
	json_signed(line, "t_ns", moment->t_ns);
	json_unsigned(line, "late_insns", moment->late_insns);
	json_unsigned(line, "cpu", moment->cpu);
}

const struct json_line *record_start(struct json_line *line)
{
	begin(line, "delays");
	json_unsigned(line, "schema", RECORD_SCHEMA);
	return json_end(line);
}

const struct json_line *record_stack(
	struct json_line *line, unsigned int number, const struct stack *stack)
{
	begin(line, "stack");
	json_unsigned(line, "stack", number);
	json_unsigned(line, "function", stack->function);
	json_unsigned(line, "base", stack->base);
	json_unsigned(line, "sp", stack->sp);
	json_unsigned(line, "fp", stack->fp);
	json_unsigned(line, "lr", stack->lr);
	json_list_unsigned(line, "words", stack->words, stack->word_count);
	return json_end(line);
}

const struct json_line *record_enter(
	struct json_line *line, const struct moment *moment, const struct entry *entry)
{
	begin(line, "enter");
	json_unsigned(line, "call", entry->call);
	json_unsigned(line, "function", entry->function);
	put_moment(line, moment);
	json_unsigned(line, "asked", entry->asked);
	json_unsigned(line, "space", entry->place.space);
	json_unsigned(line, "thread", entry->place.thread);
	json_unsigned(line, "sp", entry->place.sp);
	json_unsigned(line, "stack", entry->stack);
	return json_end(line);
}

const struct json_line *record_asking(
	struct json_line *line, uint64_t call, const struct asking *asking)
{
	begin(line, "asking");
	json_unsigned(line, "call", call);
	json_bool(line, "is_known", asking->is_known);
	json_list_unsigned(line, "arguments", asking->arguments, RECORD_ARGUMENTS);
	return json_end(line);
}

const struct json_line *record_leave(struct json_line *line, const struct moment *moment,
	uint64_t call, const char *by, uint64_t result)
{
	begin(line, "leave");
	json_unsigned(line, "call", call);
	put_moment(line, moment);
	json_text(line, "by", by);
	json_unsigned(line, "result", result);
	return json_end(line);
}

const struct json_line *record_abandon(struct json_line *line, uint64_t call)
{
	begin(line, "abandon");
	json_unsigned(line, "call", call);
	return json_end(line);
}

const struct json_line *record_lost(struct json_line *line, uint64_t calls)
{
	begin(line, "lost");
	json_unsigned(line, "calls", calls);
	return json_end(line);
}
