/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

/* Appends to a line that has @used bytes; returns how many it has then. */
__attribute__((format(printf, 3, 4))) static size_t append(
	char *line, size_t used, const char *format, ...)
{
	va_list arguments;
	int added;

	va_start(arguments, format);
	added = vsnprintf(line + used, RECORD_BYTES_MAX - used, format, arguments);
	va_end(arguments);
	assert(added >= 0 && used + (size_t)added < RECORD_BYTES_MAX);
	return used + (size_t)added;
}

static size_t append_moment(char *line, size_t used, const struct moment *moment)
{
	return append(line, used, ",\"t_ns\":%" PRId64 ",\"late_insns\":%" PRIu64 ",\"cpu\":%u",
		moment->t_ns, moment->late_insns, moment->cpu);
}

size_t record_start(char *line)
{
	return append(line, 0, "{\"ev\":\"delays\",\"schema\":%d}\n", RECORD_SCHEMA);
}

size_t record_stack(char *line, unsigned int number, const struct stack *stack)
{
	size_t used = append(line, 0,
		"{\"ev\":\"stack\",\"stack\":%u,\"function\":%u,\"base\":%" PRIu64
		",\"sp\":%" PRIu64 ",\"fp\":%" PRIu64 ",\"lr\":%" PRIu64 ",\"words\":[",
		number, stack->function, stack->base, stack->sp, stack->fp, stack->lr);

	for (size_t i = 0; i < stack->word_count; i++)
		used = append(line, used, "%s%" PRIu64, i ? "," : "", stack->words[i]);
	return append(line, used, "]}\n");
}

size_t record_enter(char *line, const struct moment *moment, const struct entry *entry)
{
	size_t used = append(line, 0, "{\"ev\":\"enter\",\"call\":%" PRIu64 ",\"function\":%u",
		entry->call, entry->function);

	used = append_moment(line, used, moment);
	return append(line, used,
		",\"asked\":%" PRIu64 ",\"space\":%" PRIu64 ",\"thread\":%" PRIu64
		",\"sp\":%" PRIu64 ",\"stack\":%u}\n",
		entry->asked, entry->place.space, entry->place.thread, entry->place.sp,
		entry->stack);
}

size_t record_asking(char *line, uint64_t call, const struct asking *asking)
{
	size_t used = append(line, 0,
		"{\"ev\":\"asking\",\"call\":%" PRIu64 ",\"is_known\":%s,\"arguments\":[", call,
		asking->is_known ? "true" : "false");

	for (size_t i = 0; i < RECORD_ARGUMENTS; i++)
		used = append(line, used, "%s%" PRIu64, i ? "," : "", asking->arguments[i]);
	return append(line, used, "]}\n");
}

size_t record_leave(
	char *line, const struct moment *moment, uint64_t call, const char *by, uint64_t result)
{
	size_t used = append(line, 0, "{\"ev\":\"leave\",\"call\":%" PRIu64, call);

	used = append_moment(line, used, moment);
	return append(line, used, ",\"by\":\"%s\",\"result\":%" PRIu64 "}\n", by, result);
}

size_t record_abandon(char *line, uint64_t call)
{
	return append(line, 0, "{\"ev\":\"abandon\",\"call\":%" PRIu64 "}\n", call);
}

size_t record_lost(char *line, uint64_t calls)
{
	return append(line, 0, "{\"ev\":\"lost\",\"calls\":%" PRIu64 "}\n", calls);
}
