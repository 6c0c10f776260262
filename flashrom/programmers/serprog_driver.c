/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parameters after -p serprog: on the command line. */
#include <errno.h>
#include <stdbool.h>

#include "params.h"
#include "serprog.h"
#include "serprog_link.h"
#include "text.h"

struct values {
	const char *ip;
	const char *dev;
	const char *spispeed;
	const char *cs;
};

static int check_link(const struct values *values, const struct log *log)
{
	if ((values->ip == NULL) != (values->dev == NULL))
		return 0;
	log_error(log, "serprog: give one of ip=HOST:PORT and dev=PATH[:BAUD].\n");
	return -EINVAL;
}

static int take_speed(const char *spispeed, struct serprog_options *options, const struct log *log)
{
	if (spispeed == NULL || text_to_hz(spispeed, &options->spi_hz))
		return 0;
	log_error(log,
		"serprog: spispeed=%s is no frequency. Write it in Hz, like 2000000 or 2M.\n",
		spispeed);
	return -EINVAL;
}

static int take_chip_select(const char *cs, struct serprog_options *options, const struct log *log)
{
	uint32_t number;

	if (cs == NULL)
		return 0;
	if (!text_to_u32(cs, 10, &number) || number > UINT8_MAX) {
		log_error(log, "serprog: cs=%s is no chip select. Write a number up to 255.\n", cs);
		return -EINVAL;
	}
	options->has_chip_select = true;
	options->chip_select = (uint8_t)number;
	return 0;
}

/* Boards on a serial line may restart when it is opened, which takes seconds. */
static int take_values(
	const struct values *values, struct serprog_options *options, const struct log *log)
{
	int error = check_link(values, log);

	*options = (struct serprog_options){
		.quiet_ms = values->ip != NULL ? 50 : 200,
		.sync_ms_max = values->ip != NULL ? 5000 : 10000,
		.silence_ms_max = 5000,
	};
	if (error == 0)
		error = take_speed(values->spispeed, options, log);
	if (error == 0)
		error = take_chip_select(values->cs, options, log);
	return error;
}

static int open_values(const struct values *values, const struct clock *clock,
	const struct log *log, struct programmer **out)
{
	struct serprog_options options;
	const int error = take_values(values, &options, log);
	int fd;

	if (error != 0)
		return error;
	fd = values->ip != NULL ? serprog_link_open_tcp(values->ip, log)
				: serprog_link_open_tty(values->dev, log);
	if (fd < 0)
		return fd;
	return serprog_attach(
		fd, values->ip != NULL ? values->ip : values->dev, &options, clock, log, out);
}

static int serprog_open(
	char *text, const struct clock *clock, const struct log *log, struct programmer **out)
{
	struct values values = {0};
	const struct param params[] = {
		{"ip", &values.ip},
		{"dev", &values.dev},
		{"spispeed", &values.spispeed},
		{"cs", &values.cs},
		{NULL, NULL},
	};
	const int error = params_parse(text, "serprog", params, log);

	return error == 0 ? open_values(&values, clock, log, out) : error;
}

const struct programmer_driver serprog_driver = {
	.name = "serprog",
	.usage = "serprog:ip=HOST:PORT | serprog:dev=PATH[:BAUD]   (add ,spispeed=HZ,cs=NUMBER)",
	.open = serprog_open,
};
