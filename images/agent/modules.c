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

int module_load(const char *path)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	int error = file < 0 || syscall(SYS_finit_module, file, "", 0) < 0 ? -errno : 0;

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
		char path[PATH_MAX];

		snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);
		if (!error && entries[i]->d_name[0] != '.')
			error = module_load(path);
		free(entries[i]);
	}
	free((void *)entries);
	return error;
}
