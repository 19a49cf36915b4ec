/** Flags of `orch up` alone: of its control loops, and of what it puts into a new store. */
import { flag, readBoolean } from '../../base/flags.ts'
import { readTime } from './values.ts'

export const loopFlags = {
  resourceQuotaSyncPeriod: flag(
    'resource-quota-sync-period',
    'TIME',
    '2m',
    readTime,
    'time between full recounts of what a ResourceQuota counts; must be longer than any write takes',
  ),
  defaultLimitRange: flag(
    'default-limit-range',
    'BOOL',
    'true',
    readBoolean,
    'create the LimitRange "limits" in the namespace default, by which containers without a request for cpu request 100m',
  ),
}
