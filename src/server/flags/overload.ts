/** Flags that limit concurrent requests and request durations. */
import { flag, readBoolean } from '../../base/flags/flags.ts'
import { readCount, readTime } from './values.ts'

export const overloadFlags = {
  priorityAndFairness: flag({
    name: 'enable-priority-and-fairness',
    default: 'true',
    read: readBoolean,
    help: 'limit requests by FlowSchemas and PriorityLevelConfigurations; if false, limit only the number of requests in flight',
  }),
  maxRequests: flag({
    name: 'max-requests-inflight',
    value: 'N',
    default: '400',
    read: readCount,
    help: 'maximum number of read requests in flight, 0 for no limit; with priority and fairness, the total number of seats is the sum of --max-requests-inflight and --max-mutating-requests-inflight',
  }),
  maxMutatingRequests: flag({
    name: 'max-mutating-requests-inflight',
    value: 'N',
    default: '200',
    read: readCount,
    help: 'maximum number of write requests in flight, 0 for no limit',
  }),
  requestTimeout: flag({
    name: 'request-timeout',
    value: 'TIME',
    default: '1m0s',
    read: readTime,
    help: 'maximum duration of requests other than watches, and the default for the timeout query parameter',
  }),
  minRequestTimeout: flag({
    name: 'min-request-timeout',
    value: 'SECONDS',
    default: '1800',
    read: readCount,
    help: 'minimum duration in seconds of watches without a timeout; the server picks a random duration up to twice as long',
  }),
}
