/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "job.h"

#include <errno.h>

static int act(struct flash *flash, const struct job *job, struct selection selection)
{
	switch (job->action) {
	case JOB_READ:
		return flash_read(flash, selection, job->into);
	case JOB_WRITE:
		return flash_write(
			flash, selection, job->image, job->held, job->verify, job->force);
	case JOB_VERIFY:
		return flash_verify(flash, selection, job->image);
	case JOB_ERASE:
		return flash_erase(flash, selection, job->verify, job->force);
	}
	return -EINVAL;
}

int job_run(struct flash *flash, const struct job *job)
{
	const struct range whole = {0, flash->chip->size_bytes};
	const struct selection all = {&whole, 1};
	int error = flash_open(flash);
	int close_error;

	if (error == 0)
		error = act(flash, job, job->selection.count > 0 ? job->selection : all);
	close_error = flash_close(flash);
	return error != 0 ? error : close_error;
}
