// SPDX-License-Identifier: GPL-2.0-or-later
/* Source: inotify(7). Devices have no permission events, which could delay an open(). */
#include "opening.h"

#include <errno.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

static int give_up(int watch)
{
	int error = -errno;

	close(watch);
	return error;
}

int opening_watch(char *paths)
{
	int watch = inotify_init1(IN_CLOEXEC);
	const char *path;

	if (watch < 0)
		return -errno;
	while ((path = strsep(&paths, "\n")) != NULL) {
		if (*path != '\0' && inotify_add_watch(watch, path, IN_OPEN) < 0)
			return give_up(watch);
	}
	return watch;
}
