/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions of the delay plugin that QEMU calls. The plugin records each call of a subject's
 * delay functions; the guest does not notice.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu_plugin/qemu_plugin_api.h"
#include "options.h"
#include "shared/timespec.h"
#include "watch.h"

/* Callbacks without user data have no other way to the state. */
static struct watch *watch;

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_API_MIN;

static int complain(const char *text)
{
	fprintf(stderr, "delay plugin: %s\n", text);
	return -EINVAL;
}

static int64_t virtual_ns(void)
{
	return qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
}

static int64_t real_ns(void)
{
	return (int64_t)monotonic_ns();
}

static void on_block(qemu_plugin_id_t id, struct qemu_plugin_tb *block)
{
	(void)id;
	watch_block(watch, block);
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(
	qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	char error[OPTIONS_ERROR_BYTES];
	struct options options;

	if (!qemu_plugin_api_fits(info))
		return complain(QEMU_PLUGIN_API_NEEDED);
	if (options_parse(argc, argv, &options, error) < 0)
		return complain(error);
	watch = calloc(1, sizeof(*watch));
	if (!watch)
		return complain("no memory");
	if (watch_init(watch, options.machine, options.is_virtual ? virtual_ns : real_ns,
		    options.request, options.out) < 0)
		return complain("cannot open the request or the output file");
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_block);
	return 0;
}
