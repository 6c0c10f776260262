// SPDX-License-Identifier: GPL-2.0-or-later
#include "layout.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int take_line(struct flashrom_layout *layout, char *line)
{
	char *end, *name, *newline;
	size_t first, last;

	first = strtoul(line, &end, 16);
	if (end == line || *end != ':')
		return -EINVAL;
	last = strtoul(end + 1, &name, 16);
	if (name == end + 1 || *name != ' ')
		return -EINVAL;
	newline = strchr(name, '\n');
	if (newline)
		*newline = '\0';
	return flashrom_layout_add_region(layout, first, last, name + 1) ? -EINVAL : 0;
}

int layout_read(struct flashrom_layout **layout, const char *path, const char *region)
{
	FILE *file = fopen(path, "r");
	struct flashrom_layout *made;
	char line[256];
	int error;

	if (!file)
		return -errno;
	error = flashrom_layout_new(&made) ? -ENOMEM : 0;
	if (!error) {
		while (!error && fgets(line, sizeof(line), file))
			error = take_line(made, line);
		if (!error && flashrom_layout_include_region(made, region))
			error = -ENOENT;
		if (error)
			flashrom_layout_release(made);
		else
			*layout = made;
	}
	fclose(file);
	return error;
}
