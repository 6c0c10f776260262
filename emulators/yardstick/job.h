/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A write as short as it can be: what was there is read, a part that comes up locked is unlocked,
 * everything is erased in the largest blocks that fit, what is not blank is programmed page by
 * page, and all is read back. Each change is a write enable, the command and one status read for a
 * part that is never busy; for others a wait, and no question.
 */
#ifndef EMULATORS_FLOOR_JOB_H
#define EMULATORS_FLOOR_JOB_H

#include "client.h"
#include "model/part.h"

struct region {
	uint32_t offset_bytes;
	uint32_t size_bytes;
};

/* Waits until a part that is busy with this must be ready. */
typedef void wait_fn(const struct busy_time *busy);

/*
 * Puts the @region.size_bytes bytes of @content into the region. Without @wait the part must never
 * be busy: -EBUSY where it was, -EIO where it does not hold them in the end, -EINVAL where its
 * erases do not fit the region, -ENOTSUP for a family of parts that it cannot write, or a region
 * past 16 MiB.
 */
int job_write(struct client *client, const struct part *part, const struct region *region,
	const uint8_t *content, wait_fn *wait);

#endif
