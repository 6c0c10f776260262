/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A reader of the archives of rig/delayrig/base/archive.py: cpio's "newc" format with folders,
 * files and symbolic links; a folder comes before its content.
 *
 * Source: Linux Documentation/driver-api/early-userspace/buffer-format.
 */
#ifndef AGENT_CPIO_H
#define AGENT_CPIO_H

#include <stddef.h>
#include <stdint.h>

/*
 * Unpacks the archive into `folder`, which must exist; its folders may exist, too. Returns 0,
 * -EBADMSG if the archive is damaged or cut short, or another negative errno.
 */
int cpio_unpack(const uint8_t *archive, size_t bytes, const char *folder);

#endif
