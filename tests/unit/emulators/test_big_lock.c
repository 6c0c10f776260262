// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests which locks of a thread are free after it has unlocked them. The preloaded library keeps
 * the big lock of the thread that has the name of QEMU's CPU thread.
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>

#include "../run_cases.h"

#define CPU_THREAD "ALL CPUs/TCG"

struct scene {
	const char *name;
	pthread_mutex_t big, other;
	pthread_cond_t there, go;
	pthread_barrier_t step;
	bool is_there, may_start, may_end;
	pthread_t thread;
};

static void wait_for(struct scene *scene, pthread_cond_t *condition, const bool *flag)
{
	while (!*flag)
		pthread_cond_wait(condition, &scene->big);
}

/*
 * Behaves like QEMU's CPU thread: waits for its start, unlocks and runs, then waits again for its
 * end.
 */
static void *run(void *opaque)
{
	struct scene *scene = opaque;

	pthread_setname_np(pthread_self(), scene->name);
	pthread_mutex_lock(&scene->big);
	scene->is_there = true;
	pthread_cond_signal(&scene->there);
	wait_for(scene, &scene->go, &scene->may_start);
	pthread_mutex_unlock(&scene->big);
	pthread_mutex_lock(&scene->other);
	pthread_mutex_unlock(&scene->other);
	pthread_barrier_wait(&scene->step); /* it runs now */
	pthread_barrier_wait(&scene->step); /* it continues when the test has tried a lock */
	pthread_mutex_lock(&scene->big);
	wait_for(scene, &scene->go, &scene->may_end);
	pthread_mutex_unlock(&scene->big);
	return NULL;
}

static void begin(struct scene *scene, const char *name)
{
	*scene = (struct scene){.name = name};
	pthread_mutex_init(&scene->big, NULL);
	pthread_mutex_init(&scene->other, NULL);
	pthread_cond_init(&scene->there, NULL);
	pthread_cond_init(&scene->go, NULL);
	pthread_barrier_init(&scene->step, NULL, 2);
	assert_int_equal(pthread_create(&scene->thread, NULL, run, scene), 0);
	pthread_mutex_lock(&scene->big);
	wait_for(scene, &scene->there, &scene->is_there);
	pthread_mutex_unlock(&scene->big);
}

static void allow(struct scene *scene, bool *flag)
{
	pthread_mutex_lock(&scene->big);
	*flag = true;
	pthread_cond_broadcast(&scene->go);
	pthread_mutex_unlock(&scene->big);
}

static void let_it_run(struct scene *scene)
{
	allow(scene, &scene->may_start);
	pthread_barrier_wait(&scene->step);
}

static void let_it_end(struct scene *scene)
{
	pthread_barrier_wait(&scene->step);
	allow(scene, &scene->may_end);
	pthread_join(scene->thread, NULL);
	pthread_barrier_destroy(&scene->step);
	pthread_cond_destroy(&scene->go);
	pthread_cond_destroy(&scene->there);
}

/* The lock that is tried while a thread of that name runs, which has unlocked it. */
struct attempt {
	const char *thread_name;
	bool is_big;
	int expected; /* the result of pthread_mutex_trylock() */
};

static void lock_is_tried(void **state)
{
	const struct attempt *attempt = *state;
	struct scene scene;
	pthread_mutex_t *mutex = attempt->is_big ? &scene.big : &scene.other;
	int error;

	begin(&scene, attempt->thread_name);
	let_it_run(&scene);
	error = pthread_mutex_trylock(mutex);
	if (!error)
		pthread_mutex_unlock(mutex);
	let_it_end(&scene);
	assert_int_equal(error, attempt->expected);
}

TEST_ROW(lock_is_tried, attempt, cpu_thread_keeps_the_big_lock_until_it_waits, CPU_THREAD, true,
	EBUSY)
TEST_ROW(lock_is_tried, attempt, cpu_thread_unlocks_another_lock, CPU_THREAD, false, 0)
TEST_ROW(lock_is_tried, attempt, other_thread_unlocks_the_big_lock, "IO mon_iothread", true, 0)
