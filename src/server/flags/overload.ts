/** Flags of how much the server takes on at once, and for how long. */
import { flag, readBoolean } from '../../base/flags/flags.ts'
import { readCount, readTime } from './values.ts'

export const overloadFlags = {
  priorityAndFairness: flag({
    name: 'enable-priority-and-fairness',
    default: 'true',
    read: readBoolean,
    help: 'share the server between requests by FlowSchemas and PriorityLevelConfigurations; false limits only their number',
  }),
  maxRequests: flag({
    name: 'max-requests-inflight',
    value: 'N',
    default: '400',
    read: readCount,
    help: 'maximum number of requests in flight that read, 0 for any; with priority and fairness the seats of all levels are the sum of both maxima',
  }),
  maxMutatingRequests: flag({
    name: 'max-mutating-requests-inflight',
    value: 'N',
    default: '200',
    read: readCount,
    help: 'maximum number of requests in flight that write, 0 for any',
  }),
  requestTimeout: flag({
    name: 'request-timeout',
    value: 'TIME',
    default: '1m0s',
    read: readTime,
    help: 'maximum time of a request that is not a watch, and the default of its parameter timeout',
  }),
  minRequestTimeout: flag({
    name: 'min-request-timeout',
    value: 'SECONDS',
    default: '1800',
    read: readCount,
    help: 'minimum lifetime of a watch that asks for none; each gets a random one up to twice as long',
  }),
}
