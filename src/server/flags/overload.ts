/** Flags of how much the server takes on at once, and for how long. */
import { flag, readBoolean } from '../../base/flags/flags.ts'
import { readCount, readTime } from './values.ts'

export const overloadFlags = {
  priorityAndFairness: flag(
    'enable-priority-and-fairness',
    '',
    'true',
    readBoolean,
    'share the server between requests by FlowSchemas and PriorityLevelConfigurations; false limits only their number',
  ),
  maxRequests: flag(
    'max-requests-inflight',
    'N',
    '400',
    readCount,
    'maximum number of requests in flight that read, 0 for any; with priority and fairness the seats of all levels are the sum of both maxima',
  ),
  maxMutatingRequests: flag(
    'max-mutating-requests-inflight',
    'N',
    '200',
    readCount,
    'maximum number of requests in flight that write, 0 for any',
  ),
  requestTimeout: flag(
    'request-timeout',
    'TIME',
    '1m0s',
    readTime,
    'maximum time of a request that is not a watch, and the default of its parameter timeout',
  ),
  minRequestTimeout: flag(
    'min-request-timeout',
    'SECONDS',
    '1800',
    readCount,
    'minimum lifetime of a watch that asks for none; each gets a random one up to twice as long',
  ),
}
