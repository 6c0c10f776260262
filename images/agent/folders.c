// SPDX-License-Identifier: GPL-2.0-or-later
#include "folders.h"
#include "cpio.h"
#include "hypercall.h"
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const system_folders[][2] = {
	{"/dev", "devtmpfs"}, {"/proc", "proc"}, {"/sys", "sysfs"}, {"/dev/pts", "devpts"}};
#define SYSTEM_FOLDERS (sizeof(system_folders) / sizeof(system_folders[0]))
#define LOOKS_MAX 10000

void folders_mount_system(void)
{
	for (size_t i = 0; i < SYSTEM_FOLDERS; i++) {
		mkdir(system_folders[i][0], 0755);
		mount(system_folders[i][1], system_folders[i][0], system_folders[i][1], 0, NULL);
	}
}

int folders_show_system_in(const char *root)
{
	for (size_t i = 0; i < SYSTEM_FOLDERS; i++) {
		char target[256];

		snprintf(target, sizeof(target), "%s%s", root, system_folders[i][0]);
		mkdir(target, 0755);
		if (mount(system_folders[i][0], target, NULL, MS_BIND, NULL) < 0)
			return -errno;
	}
	return 0;
}

int folders_unpack(const struct window *window, const char *fw_cfg_name, const char *folder)
{
	const uint8_t *archive;
	size_t bytes;
	int error = hypercall_fetch(window, fw_cfg_name, &archive, &bytes);

	if (error)
		return error;
	mkdir(folder, 0755);
	return cpio_unpack(archive, bytes, folder);
}

char *folders_read_text(const char *path)
{
	char *text = NULL;
	size_t capacity = 0;
	FILE *file = fopen(path, "re");

	if (!file)
		return NULL;
	if (getdelim(&text, &capacity, '\0', file) < 0) {
		free(text);
		text = NULL;
	}
	fclose(file);
	return text;
}

int folders_write_text(const char *path, const char *text)
{
	ssize_t bytes = (ssize_t)strlen(text);
	int file = open(path, O_WRONLY | O_CLOEXEC);
	int error = file < 0 || write(file, text, (size_t)bytes) != bytes ? -errno : 0;

	close(file);
	return error;
}

int folders_await_file(const char *path)
{
	for (unsigned int looks = 0; looks < LOOKS_MAX; looks++) {
		if (access(path, F_OK) == 0)
			return 0;
		process_sleep_ms(1);
	}
	return -ETIMEDOUT;
}

static int copy_into(const char *from, int to, off_t offset)
{
	uint8_t block[4096];
	int error = 0;
	ssize_t got = 0;
	int file = open(from, O_RDONLY | O_CLOEXEC);

	if (file < 0)
		return -errno;
	while (!error && (got = read(file, block, sizeof(block))) > 0) {
		if (pwrite(to, block, (size_t)got, offset) != got)
			error = -EIO;
		offset += got;
	}
	close(file);
	return got < 0 ? -EIO : error;
}

int folders_make_image(const struct spec_image *image)
{
	int file = open(image->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int error;

	if (file < 0)
		return -errno;
	error = ftruncate(file, (off_t)image->size_bytes) < 0
			? -errno
			: copy_into(image->from, file, (off_t)image->offset_bytes);
	close(file);
	return error;
}
