/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A subject that is not flashrom and uses no programmer. Its delays begin and end in each way that
 * a call can. Each way requests a different time, by which the test recognises its calls.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* The rig starts a program only if it contains the part's name. */
static const char *const volatile part = "GD25Q16(B)";

static sigjmp_buf after_delay;
static volatile sig_atomic_t handler_jumps;
static volatile unsigned int iterations;

static int64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000) + now.tv_nsec / 1000;
}

__attribute__((noinline)) void default_delay(unsigned int us)
{
	int64_t end_us = now_us() + us + 1;

	while (now_us() < end_us)
		iterations++;
}

/* Ends in a jump to default_delay(), so it has no return instruction. */
__attribute__((noinline)) void internal_delay(unsigned int us)
{
	iterations++;
	default_delay(us);
}

static void on_alarm(int number)
{
	(void)number;
	if (handler_jumps)
		siglongjmp(after_delay, 1);
	default_delay(701);
}

static void alarm_in_us(unsigned int us)
{
	const struct itimerval timer = {.it_value = {.tv_usec = us}};

	setitimer(ITIMER_REAL, &timer, NULL);
}

static void *delay_in_thread(void *us)
{
	default_delay((unsigned int)(uintptr_t)us);
	return NULL;
}

static void delay_in_threads(void)
{
	pthread_t threads[2];

	for (uintptr_t i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, delay_in_thread, (void *)(5001 + i));
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

int main(void)
{
	pthread_t thread;

	signal(SIGALRM, on_alarm);
	printf("%s\n", part);
	for (int i = 0; i < 3; i++)
		default_delay(1001);
	internal_delay(2001);
	internal_delay(2001);
	alarm_in_us(20000);
	default_delay(60001);
	handler_jumps = 1;
	alarm_in_us(20000);
	if (sigsetjmp(after_delay, 1) == 0)
		default_delay(300001);
	iterations++;
	default_delay(1001);
	delay_in_threads();
	pthread_create(&thread, NULL, delay_in_thread, (void *)(uintptr_t)900001);
	usleep(20000); /* gives the thread time to start */
	_exit(3);
}
