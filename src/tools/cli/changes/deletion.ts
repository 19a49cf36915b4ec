/** How an object is deleted, for every command that does: what becomes of what it owns, how long it may take, and waiting. */
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
      help: 'what becomes of the objects that it owns: deleted after it, kept, or deleted before it',
    }),
    'background',
  ),
  gracePeriod: flag({
    name: 'grace-period',
    value: 'SECONDS',
    default: '-1',
    read: readSeconds,
    help: 'how long it may take to stop; -1: as long as it asks for itself; 0 is 1 without --force',
  }),
  wait: flag({ name: 'wait', default: 'true', read: readBoolean, help: 'wait until the objects are gone' }),
  timeout: flag({
    name: 'timeout',
    value: 'TIME',
    default: '0',
    read: readTime,
    help: 'how long to wait for each; 0: a week',
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

/** What is asked of the server. */
export function deletionRequest({
  cascade,
  gracePeriod,
}: Pick<DeletionOptions, 'cascade' | 'gracePeriod'>): DeleteOptions {
  return { propagationPolicy: policies[cascade], ...(gracePeriod < 0 ? {} : { gracePeriodSeconds: gracePeriod }) }
}

const week = 7 * 24 * 60 * 60 * 1000

/** How long to wait until an object is gone. */
export function patienceOf({ timeout }: Pick<DeletionOptions, 'timeout'>): number {
  return timeout || week
}
