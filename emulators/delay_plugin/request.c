/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "request.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shared/number.h"

static const char *const kinds[] = {[REQUEST_ENTRY] = "entry ",
	[REQUEST_RETURN] = "return ",
	[REQUEST_SITE] = "site ",
	[REQUEST_CALL] = "call "};

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Parses a hexadecimal number, and skips one space after it unless the line ends. */
static int take_number(const char **text, uint64_t *number)
{
	if (!number_begins(*text, 16, UINT64_MAX, text, number))
		return -EINVAL;
	if (**text == ' ')
		(*text)++;
	else if (**text != '\n' && **text != '\0')
		return -EINVAL;
	return 0;
}

static int take_numbers(const char **text, uint64_t *numbers, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (take_number(text, &numbers[i]) < 0)
			return -EINVAL;
	}
	return 0;
}

static int take_word(const char **text, const char *word)
{
	if (strncmp(*text, word, strlen(word)) != 0)
		return -EINVAL;
	*text += strlen(word);
	return 0;
}

static int parse_function(const char **text, struct request *request)
{
	uint64_t numbers[7];

	if (request->function_count == REQUEST_FUNCTIONS_MAX || take_numbers(text, numbers, 7) < 0)
		return -EINVAL;
	request->functions[request->function_count++] = (struct request_function){
		.address = numbers[0],
		.size = numbers[1],
		.argument = (unsigned int)numbers[2],
		.argument_bits = (unsigned int)numbers[3],
		.may_jump = numbers[4],
		.text_begin = numbers[5],
		.text_end = numbers[6],
	};
	return 0;
}

static bool is_time_possible(const struct request_function *sleep)
{
	return sleep->seconds_bytes <= sizeof(uint64_t) && sleep->part_bytes <= sizeof(uint64_t);
}

static int parse_sleep(const char **text, struct request *request)
{
	struct request_function *made = &request->functions[request->function_count];
	uint64_t numbers[8];

	if (request->function_count == REQUEST_FUNCTIONS_MAX || take_numbers(text, numbers, 8) < 0)
		return -EINVAL;
	*made = (struct request_function){
		.is_sleep = true,
		.address = numbers[0],
		.argument = (unsigned int)numbers[1],
		.argument_bits = 32,
		.seconds_bytes = (unsigned int)numbers[2],
		.part_bytes = (unsigned int)numbers[3],
		.part_ns = (unsigned int)numbers[4],
		.may_jump = numbers[5],
		.text_begin = numbers[6],
		.text_end = numbers[7],
	};
	request->function_count++;
	return is_time_possible(made) ? 0 : -EINVAL;
}

static int take_window(const char **text, uint8_t *window)
{
	for (size_t i = 0; i < REQUEST_WINDOW_BYTES; i++, *text += 2) {
		int high = digit((*text)[0]), low = high < 0 ? -1 : digit((*text)[1]);

		if (low < 0)
			return -EINVAL;
		window[i] = (uint8_t)(high << 4 | low);
	}
	return 0;
}

static bool is_mark_possible(const struct request *request, const struct request_mark *mark)
{
	uint64_t place = mark->address % REQUEST_PAGE_BYTES;

	return mark->function < request->function_count && mark->back <= place &&
	       place - mark->back + REQUEST_WINDOW_BYTES <= REQUEST_PAGE_BYTES;
}

static int parse_mark(enum request_mark_kind kind, const char **text, struct request *request)
{
	struct request_mark *made = &request->marks[request->mark_count];
	uint64_t numbers[3];

	if (request->mark_count == REQUEST_MARKS_MAX || take_numbers(text, numbers, 3) < 0 ||
		take_window(text, made->window) < 0)
		return -EINVAL;
	made->kind = kind;
	made->function = (unsigned int)numbers[0];
	made->address = numbers[1];
	made->back = (unsigned int)numbers[2];
	if (!is_mark_possible(request, made))
		return -EINVAL;
	made->next = request->first[made->address % REQUEST_PAGE_BYTES];
	request->first[made->address % REQUEST_PAGE_BYTES] = (unsigned int)++request->mark_count;
	return 0;
}

static int parse_line(const char **text, struct request *request)
{
	if (take_word(text, "function ") == 0)
		return parse_function(text, request);
	if (take_word(text, "sleep ") == 0)
		return parse_sleep(text, request);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (take_word(text, kinds[i]) == 0)
			return parse_mark((enum request_mark_kind)i, text, request);
	}
	return -EINVAL;
}

int request_parse(const char *text, struct request *request, size_t *line)
{
	memset(request, 0, sizeof(*request));
	for (*line = 1; *text != '\0'; (*line)++) {
		if (parse_line(&text, request) < 0 || *text != '\n')
			return -EINVAL;
		text++;
	}
	return 0;
}

const struct request_mark *request_first(const struct request *request, uint64_t address)
{
	unsigned int number = request->first[address % REQUEST_PAGE_BYTES];

	return number ? &request->marks[number - 1] : NULL;
}

const struct request_mark *request_next(
	const struct request *request, const struct request_mark *mark)
{
	return mark->next ? &request->marks[mark->next - 1] : NULL;
}

static int map(struct request_file *file, int descriptor)
{
	struct stat status;
	void *mapped;

	if (fstat(descriptor, &status) < 0)
		return -errno;
	if ((size_t)status.st_size <= sizeof(file->known))
		return -EINVAL;
	mapped = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, descriptor, 0);
	if (mapped == MAP_FAILED)
		return -errno;
	*file = (struct request_file){.mapped = mapped, .size = (uint64_t)status.st_size};
	return 0;
}

int request_file_open(struct request_file *file, const char *path)
{
	int descriptor = open(path, O_RDONLY | O_CLOEXEC);
	int ret;

	if (descriptor < 0)
		return -errno;
	ret = map(file, descriptor);
	close(descriptor);
	return ret;
}

bool request_file_has_changed(struct request_file *file)
{
	uint64_t now = *(const volatile uint64_t *)(const void *)file->mapped;

	if (now == file->known)
		return false;
	file->known = now;
	return true;
}

const char *request_file_text(const struct request_file *file)
{
	const char *text = file->mapped + sizeof(file->known);

	return memchr(text, '\0', file->size - sizeof(file->known)) ? text : NULL;
}
