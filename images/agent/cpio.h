/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unpacks what rig/delayrig/base/archive.py packs: cpio's "newc" format with folders, files and
 * symbolic links, folders before what is in them.
 *
 * Source: Linux Documentation/driver-api/early-userspace/buffer-format.
 */
#ifndef AGENT_CPIO_H
#define AGENT_CPIO_H

#include <stddef.h>
#include <stdint.h>

/*
 * Unpacks the archive into `folder`, which is there; folders of the archive may be there, too.
 * Returns 0, -EBADMSG where the archive is damaged or cut short, or what else went wrong.
 */
int cpio_unpack(const uint8_t *archive, size_t bytes, const char *folder);

#endif
