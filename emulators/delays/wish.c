/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "wish.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LINE_BYTES_MAX 256

static int parse_function(const char *line, struct wish *wish)
{
	struct wish_function *made = &wish->functions[wish->function_count];
	unsigned int jumps = 0;

	if (wish->function_count == WISH_FUNCTIONS_MAX)
		return -EINVAL;
	/* NOLINTNEXTLINE(cert-err34-c): the rig writes this text, and numbers too long end nothing
	 */
	if (sscanf(line, "function %" SCNx64 " %" SCNx64 " %x %x %x %" SCNx64 " %" SCNx64,
		    &made->address, &made->size, &made->argument, &made->argument_bits, &jumps,
		    &made->text_begin, &made->text_end) != 7)
		return -EINVAL;
	made->may_jump = jumps;
	wish->function_count++;
	return 0;
}

static int parse_window(const char *text, uint8_t *window)
{
	for (size_t i = 0; i < WISH_WINDOW_BYTES; i++) {
		unsigned int byte;

		/* NOLINTNEXTLINE(cert-err34-c): two digits are no number too long */
		if (sscanf(text + 2 * i, "%2x", &byte) != 1)
			return -EINVAL;
		window[i] = (uint8_t)byte;
	}
	return text[(size_t)2 * WISH_WINDOW_BYTES] == '\0' ? 0 : -EINVAL;
}

static int kind_of(const char *word, enum wish_mark_kind *kind)
{
	static const char *const words[] = {
		[WISH_ENTRY] = "entry", [WISH_RETURN] = "return", [WISH_SITE] = "site"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(word, words[i]) == 0) {
			*kind = (enum wish_mark_kind)i;
			return 0;
		}
	}
	return -EINVAL;
}

static bool is_mark_possible(const struct wish *wish, const struct wish_mark *mark)
{
	uint64_t place = mark->address % WISH_PAGE_BYTES;

	return mark->function < wish->function_count && mark->back <= place &&
	       place - mark->back + WISH_WINDOW_BYTES <= WISH_PAGE_BYTES;
}

static int parse_mark(const char *line, struct wish *wish)
{
	struct wish_mark *made = &wish->marks[wish->mark_count];
	char word[8], window[2 * WISH_WINDOW_BYTES + 2];

	if (wish->mark_count == WISH_MARKS_MAX)
		return -EINVAL;
	/* NOLINTNEXTLINE(cert-err34-c): as above */
	if (sscanf(line, "%7s %x %" SCNx64 " %x %65s", word, &made->function, &made->address,
		    &made->back, window) != 5)
		return -EINVAL;
	if (kind_of(word, &made->kind) < 0 || parse_window(window, made->window) < 0 ||
		!is_mark_possible(wish, made))
		return -EINVAL;
	made->next = wish->first[made->address % WISH_PAGE_BYTES];
	wish->first[made->address % WISH_PAGE_BYTES] = (unsigned int)++wish->mark_count;
	return 0;
}

static int parse_line(const char *line, struct wish *wish)
{
	return strncmp(line, "function ", 9) == 0 ? parse_function(line, wish)
						  : parse_mark(line, wish);
}

int wish_parse(const char *text, struct wish *wish, size_t *line)
{
	memset(wish, 0, sizeof(*wish));
	for (*line = 1; *text != '\0'; (*line)++) {
		size_t len = strcspn(text, "\n");
		char copy[LINE_BYTES_MAX];

		if (len >= sizeof(copy))
			return -EINVAL;
		memcpy(copy, text, len);
		copy[len] = '\0';
		if (parse_line(copy, wish) < 0)
			return -EINVAL;
		text += len + (text[len] == '\n');
	}
	return 0;
}

const struct wish_mark *wish_first(const struct wish *wish, uint64_t address)
{
	unsigned int number = wish->first[address % WISH_PAGE_BYTES];

	return number ? &wish->marks[number - 1] : NULL;
}

const struct wish_mark *wish_next(const struct wish *wish, const struct wish_mark *mark)
{
	return mark->next ? &wish->marks[mark->next - 1] : NULL;
}
