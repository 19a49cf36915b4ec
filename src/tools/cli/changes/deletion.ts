/**
 * Flags and helpers for commands that delete objects: propagation policy, grace period, and waiting for the deletion.
 */
import { flag, type OptionsOf, oneOf, readBoolean, withBare } from '../../../base/flags/flags.ts'
import type { DeleteOptions } from '../../../client/requests/client.ts'
import { readSeconds } from '../arguments/numbers.ts'
import { readTime } from '../connection/connection-flags.ts'

export const deletionFlags = {
  cascade: withBare(
    flag({
      name: 'cascade',
      value: 'background|orphan|foreground',
      default: 'background',
      read: oneOf(['background', 'orphan', 'foreground', 'true', 'false']),
      help: 'propagation policy for dependents: background deletes dependents after the object, foreground deletes dependents before the object, orphan keeps dependents',
    }),
    'background',
  ),
  gracePeriod: flag({
    name: 'grace-period',
    value: 'SECONDS',
    default: '-1',
    read: readSeconds,
    help: "grace period in seconds; -1 uses the object's own grace period; 0 deletes the object immediately if --force is set, and is treated as 1 otherwise",
  }),
  wait: flag({ name: 'wait', default: 'true', read: readBoolean, help: 'wait until the objects are deleted' }),
  timeout: flag({
    name: 'timeout',
    value: 'TIME',
    default: '0',
    read: readTime,
    help: 'maximum time to wait for each object; 0 means one week',
  }),
}

export type DeletionOptions = OptionsOf<typeof deletionFlags>

const policies = {
  background: 'Background',
  true: 'Background',
  orphan: 'Orphan',
  false: 'Orphan',
  foreground: 'Foreground',
} as const

/** Converts the deletion flags to options of a delete request. */
export function deletionRequest({
  cascade,
  gracePeriod,
}: Pick<DeletionOptions, 'cascade' | 'gracePeriod'>): DeleteOptions {
  return { propagationPolicy: policies[cascade], ...(gracePeriod < 0 ? {} : { gracePeriodSeconds: gracePeriod }) }
}

const week = 7 * 24 * 60 * 60 * 1000

/** Returns the maximum time in milliseconds to wait for the deletion of an object. */
export function patienceOf({ timeout }: Pick<DeletionOptions, 'timeout'>): number {
  return timeout || week
}
