/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzzes the parser of `-p NAME:...`, and the parsers of numbers with the values that it finds. */
#include "fakes.h"
#include "programmer.h"
#include "text.h"

static void read_numbers(const char *value)
{
	uint32_t number = 0;

	if (text_to_u32(value, 10, &number) || text_to_u32(value, 16, &number))
		FUZZ_CHECK(value[0] != '-' && value[0] != '\0');
	if (text_to_hz(value, &number))
		FUZZ_CHECK(number > 0);
}

/* Checks that a value lies inside the text, after its key, and is not empty. */
static void check_value(const char *text, size_t size, const char *value)
{
	if (value == NULL)
		return;
	FUZZ_CHECK(value > text && value < text + size && value[0] != '\0');
	FUZZ_CHECK(strchr(value, ',') == NULL && value[-1] == '\0');
	read_numbers(value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *ip = NULL, *dev = NULL, *spispeed = NULL;
	const struct param params[] = {{"ip", &ip}, {"dev", &dev}, {"spispeed", &spispeed}, {0}};
	const struct log log = fake_log();
	char *text = malloc(size + 1);

	FUZZ_CHECK(text != NULL);
	if (size > 0)
		memcpy(text, data, size);
	text[size] = '\0';
	(void)params_parse(text, "fuzz", params, &log);
	check_value(text, size, ip);
	check_value(text, size, dev);
	check_value(text, size, spispeed);
	free(text);
	return 0;
}
