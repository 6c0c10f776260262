/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A JSON object on a line of its own: json_begin(), its keys in their order, json_end(). Keys and
 * names need no escaping. record/jsonl.c does not use this header, because it writes a hundred
 * thousand lines in slow guests.
 */
#ifndef EMULATORS_SHARED_JSON_LINE_H
#define EMULATORS_SHARED_JSON_LINE_H

#include <assert.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define JSON_LINE_BYTES_MAX 4096

struct json_line {
	FILE *out;  /* NULL: the line stays in @bytes, and must fit */
	char comma; /* a comma if the next key or item needs one before it; else 0 */
	size_t len;
	char bytes[JSON_LINE_BYTES_MAX];
};

static inline void json_put(struct json_line *line, const char *bytes, size_t len)
{
	if (line->len + len > sizeof(line->bytes)) {
		assert(line->out);
		fwrite(line->bytes, 1, line->len, line->out);
		line->len = 0;
	}
	memcpy(line->bytes + line->len, bytes, len);
	line->len += len;
}

static inline void json_put_string(struct json_line *line, const char *string)
{
	json_put(line, string, strlen(string));
}

static inline void json_put_comma(struct json_line *line)
{
	if (line->comma)
		json_put(line, &line->comma, 1);
	line->comma = ',';
}

/* Opens an object (@bracket `{`) or a list (`[`), as an item or as the value of a key. */
static inline void json_open(struct json_line *line, char bracket)
{
	json_put_comma(line);
	json_put(line, &bracket, 1);
	line->comma = 0;
}

static inline void json_close(struct json_line *line, char bracket)
{
	json_put(line, &bracket, 1);
	line->comma = ',';
}

static inline void json_begin(struct json_line *line, FILE *out)
{
	line->out = out;
	line->comma = 0;
	line->len = 0;
	json_open(line, '{');
}

/* Returns @line. ferror() of the stream shows a failed write. */
static inline const struct json_line *json_end(struct json_line *line)
{
	json_put_string(line, "}\n");
	if (line->out)
		fwrite(line->bytes, 1, line->len, line->out);
	return line;
}

static inline void json_key(struct json_line *line, const char *key)
{
	json_put_comma(line);
	json_put(line, "\"", 1);
	json_put_string(line, key);
	json_put_string(line, "\":");
	line->comma = 0;
}

/* Puts @text, which is JSON already, as the value of a key or an item of a list. */
static inline void json_value(struct json_line *line, const char *text)
{
	json_put_comma(line);
	json_put_string(line, text);
}

static inline void json_value_signed(struct json_line *line, int64_t value)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%" PRId64, value);
	json_value(line, digits);
}

static inline void json_value_unsigned(struct json_line *line, uint64_t value)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%" PRIu64, value);
	json_value(line, digits);
}

static inline void json_signed(struct json_line *line, const char *key, int64_t value)
{
	json_key(line, key);
	json_value_signed(line, value);
}

static inline void json_unsigned(struct json_line *line, const char *key, uint64_t value)
{
	json_key(line, key);
	json_value_unsigned(line, value);
}

static inline void json_bool(struct json_line *line, const char *key, bool value)
{
	json_key(line, key);
	json_value(line, value ? "true" : "false");
}

/* Puts a byte of a string. One outside ASCII is taken as Latin-1, so JSON can hold any byte. */
static inline void json_put_escaped(struct json_line *line, const char *byte)
{
	const unsigned char value = (unsigned char)*byte;
	char escaped[8];

	if (value >= 0x20 && value <= 0x7e && value != '"' && value != '\\') {
		json_put(line, byte, 1);
		return;
	}
	snprintf(escaped, sizeof(escaped), "\\u%04x", value);
	json_put_string(line, escaped);
}

static inline void json_text(struct json_line *line, const char *key, const char *text)
{
	json_key(line, key);
	json_value(line, "\"");
	for (; *text != '\0'; text++)
		json_put_escaped(line, text);
	json_put_string(line, "\"");
}

/* Begins the line of an event of that kind at that time. */
static inline void json_event(struct json_line *line, FILE *out, const char *kind, uint64_t t_ns)
{
	json_begin(line, out);
	json_text(line, "ev", kind);
	json_unsigned(line, "t_ns", t_ns);
}

static inline void json_list_unsigned(
	struct json_line *line, const char *key, const uint64_t *values, size_t count)
{
	json_key(line, key);
	json_open(line, '[');
	for (size_t i = 0; i < count; i++)
		json_value_unsigned(line, values[i]);
	json_close(line, ']');
}

static inline void json_list_signed(
	struct json_line *line, const char *key, const int64_t *values, size_t count)
{
	json_key(line, key);
	json_open(line, '[');
	for (size_t i = 0; i < count; i++)
		json_value_signed(line, values[i]);
	json_close(line, ']');
}

#endif
