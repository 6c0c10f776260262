// SPDX-License-Identifier: GPL-2.0-or-later
/* Source: init_module(2). */
#include "modules.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static int load(const char *folder, const char *name)
{
	char path[PATH_MAX];
	int error = 0;
	int file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return -errno;
	if (syscall(SYS_finit_module, file, "", 0) < 0)
		error = -errno;
	close(file);
	return error;
}

int modules_load(const char *folder)
{
	struct dirent **entries;
	int count = scandir(folder, &entries, NULL, alphasort);
	int error = 0;

	if (count < 0)
		return errno == ENOENT ? 0 : -errno;
	for (int i = 0; i < count; i++) {
		if (!error && entries[i]->d_name[0] != '.')
			error = load(folder, entries[i]->d_name);
		free(entries[i]);
	}
	free((void *)entries);
	return error;
}
