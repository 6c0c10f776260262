/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parses words KEY=VALUE, each key once, by a table of the keys and their fields in a struct. */
#ifndef EMULATORS_SHARED_ARGUMENTS_H
#define EMULATORS_SHARED_ARGUMENTS_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "shared/number.h"

struct argument {
	const char *name;
	const char *wants; /* the expected kind of value */
	size_t offset;
	int (*parse)(const char *text, void *field); /* NULL: a number, into a uint64_t */
	uint64_t min;
	uint64_t max;
};

#define ARGUMENT(type_, name_) .name = #name_, .offset = offsetof(type_, name_)

/* Stores the text in a `const char *`, which is valid as long as the word. */
static inline int argument_text(const char *text, void *field)
{
	if (*text == '\0')
		return -EINVAL;
	*(const char **)field = text;
	return 0;
}

static inline const struct argument *argument_find(
	const struct argument *arguments, size_t count, const char *word)
{
	size_t len = strcspn(word, "=");

	for (size_t i = 0; i < count && word[len] == '='; i++) {
		if (strlen(arguments[i].name) == len && strncmp(arguments[i].name, word, len) == 0)
			return &arguments[i];
	}
	return NULL;
}

/*
 * Puts the value of @word into @fields. @seen has a bit for each of the @arguments, of which there
 * are 64 at most. Returns -ENOENT: there is no such key; -EEXIST: the key came before; -EINVAL: the
 * value is not what *@wants says.
 */
static inline int argument_take(const struct argument *arguments, size_t count, const char *word,
	void *fields, uint64_t *seen, const char **wants)
{
	const struct argument *found = argument_find(arguments, count, word);
	const char *value;
	void *field;
	uint64_t bit;

	if (!found)
		return -ENOENT;
	bit = UINT64_C(1) << (found - arguments);
	if (*seen & bit)
		return -EEXIST;
	*seen |= bit;
	*wants = found->wants;
	value = strchr(word, '=') + 1;
	field = (char *)fields + found->offset;
	if (found->parse)
		return found->parse(value, field);
	return number_parse(value, 10, found->min, found->max, field) ? 0 : -EINVAL;
}

#endif
