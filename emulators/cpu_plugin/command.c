/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "vcpu.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shared/number.h"
#include "shared/units.h"

#define SCRIPT_MS_MAX UINT64_C(86400000)
#define LINE_BYTES_MAX 128

#define BLANKS " \t\r"

static const char *skip_blanks(const char *text)
{
	return text + strspn(text, BLANKS);
}

static bool word_ends(const char *text)
{
	return *text == '\0' || strchr(BLANKS, *text);
}

/* Parses a number that consists of digits only, and skips the blanks after it. */
static int parse_number(const char **text, uint64_t max, uint64_t *value)
{
	const char *end;
	uint64_t parsed;

	if (!number_begins(*text, 10, max, &end, &parsed) || !word_ends(end))
		return -EINVAL;
	*text = skip_blanks(end);
	*value = parsed;
	return 0;
}

static int parse_vcpu(const char **text, int *vcpu)
{
	uint64_t number;

	if (**text == '*' && word_ends(*text + 1)) {
		*text = skip_blanks(*text + 1);
		*vcpu = COMMAND_VCPU_ALL;
		return 0;
	}
	if (parse_number(text, COMMAND_VCPU_MAX, &number) < 0)
		return -EINVAL;
	*vcpu = (int)number;
	return 0;
}

static int parse_speed(const char **text, struct command *command)
{
	static const char back[] = "auto";
	const char *end = *text + strlen(back);

	command->back_to_governor = strncmp(*text, back, strlen(back)) == 0;
	if (!command->back_to_governor && speed_parse(*text, &end, &command->speed_kips) < 0)
		return -EINVAL;
	if (!word_ends(end))
		return -EINVAL;
	*text = skip_blanks(end);
	return 0;
}

static int parse_ramp(const char **text, struct command *command)
{
	uint64_t ramp_us;

	if (**text == '\0')
		return 0;
	if (parse_number(text, COMMAND_RAMP_US_MAX, &ramp_us) < 0)
		return -EINVAL;
	command->has_ramp = true;
	command->ramp_ns = ramp_us * NS_PER_US;
	return 0;
}

int command_parse(const char *text, struct command *command)
{
	struct command parsed = {0};

	text = skip_blanks(text);
	if (parse_vcpu(&text, &parsed.vcpu) < 0 || parse_speed(&text, &parsed) < 0 ||
		parse_ramp(&text, &parsed) < 0 || *text != '\0')
		return -EINVAL;
	*command = parsed;
	return 0;
}

bool command_is_for(const struct command *command, unsigned int vcpu)
{
	return command->vcpu == COMMAND_VCPU_ALL || command->vcpu == (int)vcpu;
}

static int append_step(struct script *script, const struct script_step *step)
{
	struct script_step *steps =
		realloc(script->steps, (script->count + 1) * sizeof(*script->steps));

	if (!steps)
		return -ENOMEM;
	script->steps = steps;
	script->steps[script->count++] = *step;
	return 0;
}

static int parse_line(const char *line, struct script *script)
{
	struct script_step step = {0};
	uint64_t ms;

	line = skip_blanks(line);
	if (*line == '\0')
		return 0;
	if (parse_number(&line, SCRIPT_MS_MAX, &ms) < 0 || command_parse(line, &step.command) < 0)
		return -EINVAL;
	step.at_ns = ms * NS_PER_MS;
	if (script->count > 0 && step.at_ns < script->steps[script->count - 1].at_ns)
		return -EINVAL;
	return append_step(script, &step);
}

int script_parse(const char *text, struct script *script, size_t *line)
{
	struct script parsed = {0};

	for (*line = 1; *text; (*line)++) {
		char copy[LINE_BYTES_MAX];
		size_t whole = strcspn(text, "\n");
		size_t len = strcspn(text, "#\n");
		int ret = len < sizeof(copy) ? 0 : -EINVAL;

		if (ret == 0) {
			memcpy(copy, text, len);
			copy[len] = '\0';
			ret = parse_line(copy, &parsed);
		}
		if (ret < 0) {
			script_deinit(&parsed);
			return ret;
		}
		text += whole + (text[whole] == '\n');
	}
	*script = parsed;
	return 0;
}

void script_deinit(struct script *script)
{
	free(script->steps);
	memset(script, 0, sizeof(*script));
}
