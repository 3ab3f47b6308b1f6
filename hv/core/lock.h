/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The one lock: for the console, the nested page tables, the frames, and for starting and
 * stopping processors. All of that is rare; what an exit does often touches only its own
 * processor's data. With one lock there is no order to get wrong.
 */
#ifndef VELLUM_CORE_LOCK_H
#define VELLUM_CORE_LOCK_H

/* Waits until no other processor has it. The one that has it may take it again. */
void lock_take(void);

/* As many times as it was taken. */
void lock_release(void);

/*
 * For the last words: takes it from whoever has it, if that processor does not give it back
 * within a while.
 */
void lock_seize(void);

#endif
