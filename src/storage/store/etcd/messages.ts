/**
 * The few messages of etcd's v3 API that the store uses, as plain data, with their Protobuf encoding. Encoded requests
 * reserve space for the gRPC frame header (see grpc.ts). Decoded responses contain only the fields that are used.
 * Revisions are etcd's revisions, without the store's offset.
 */
import { WireReader, WireWriter } from '../../../wire/protobuf/protobuf-wire.ts'
import { frameHeaderBytes, seal } from './grpc.ts'

export const methods = {
  range: '/etcdserverpb.KV/Range',
  put: '/etcdserverpb.KV/Put',
  txn: '/etcdserverpb.KV/Txn',
  deleteRange: '/etcdserverpb.KV/DeleteRange',
  compact: '/etcdserverpb.KV/Compact',
  grantLease: '/etcdserverpb.Lease/LeaseGrant',
  watch: '/etcdserverpb.Watch/Watch',
  status: '/etcdserverpb.Maintenance/Status',
} as const

export type Method = (typeof methods)[keyof typeof methods]

export interface KeyValue {
  key: string
  createRevision: number
  modRevision: number
  version: number
  value: Uint8Array
}

export interface RangeRequest {
  readonly key: Uint8Array
  readonly end?: Uint8Array
  readonly limit?: number
  readonly revision?: number
  readonly countOnly?: boolean
  readonly keysOnly?: boolean
  /** Whether to return the last keys of the range first. This order makes etcd sort the whole range. */
  readonly descending?: boolean
}

export interface RangeResponse {
  revision: number
  entries: KeyValue[]
  count: number
}

/** The attribute of a key to compare: its last revision (mod_revision) or its number of changes (version). */
export type Compare =
  | { readonly target: 'modRevision'; readonly equals: number }
  | { readonly target: 'version'; readonly equals: number }
  | { readonly target: 'version'; readonly above: number }

/**
 * A compare-and-swap of one key in one transaction. If the comparison succeeds, the transaction writes the key, or
 * deletes the key if the value is undefined. Otherwise, it reads the key.
 */
export interface SwapRequest {
  readonly key: Uint8Array
  readonly compare: Compare
  readonly value: Uint8Array | undefined
  /** The lease that the key is attached to. Undefined means that the key does not expire. */
  readonly lease?: bigint | undefined
  /** Additional preconditions of the transaction on other keys. */
  readonly guards?: readonly { readonly key: Uint8Array; readonly compare: Compare }[]
  /** Ranges in which no key may have been written after a given revision. */
  readonly unchanged?: readonly { readonly key: Uint8Array; readonly end: Uint8Array; readonly since: number }[]
  /** Additional keys to write and to delete if the comparison succeeds. */
  readonly puts?: readonly { readonly key: Uint8Array; readonly value: Uint8Array; readonly lease?: bigint }[]
  readonly deletes?: readonly Uint8Array[]
}

export interface SwapResponse {
  revision: number
  succeeded: boolean
  /** The current entry of the key if the comparison failed. */
  current: KeyValue | undefined
}

export interface WatchRequest {
  readonly key: Uint8Array
  readonly end: Uint8Array
  readonly start: number
}

export interface EtcdEvent {
  deleted: boolean
  entry: KeyValue
  previous: KeyValue | undefined
}

export interface WatchResponse {
  created: boolean
  canceled: boolean
  /** The oldest available revision if etcd has compacted the start of the watch, and otherwise 0. */
  compactRevision: number
  reason: string
  /** Whether the batch of events continues in the next response. */
  fragment: boolean
  events: EtcdEvent[]
}

export interface StatusResponse {
  clusterId: bigint
  version: string
  /** Size of the member's database file, including space that compaction has freed. */
  databaseBytes: number
  /** The ID of the leader, or 0 if the member has no leader. */
  leader: bigint
  learner: boolean
}

export function encodeRange(request: RangeRequest): Buffer {
  return encode((writer) => writeRange(writer, request))
}

export function encodePut(key: Uint8Array, value: Uint8Array): Buffer {
  return encode((writer) => writePut(writer, key, value))
}

/**
 * Number of operations per nested transaction. etcd allows 128 operations in total for the outer transaction and a
 * nested transaction.
 */
const chunkSize = 60

/** Maximum number of additional keys that one swap can compare, write or delete. */
export const maxOperations = 120 * chunkSize

export function encodeSwap(request: SwapRequest): Buffer {
  const { key, compare, value, lease, guards, unchanged, puts = [], deletes = [] } = request
  const further = [
    ...puts.map((put) => (op: WireWriter) => op.message(2, (inner) => writePut(inner, put.key, put.value, put.lease))),
    ...deletes.map((deletedKey) => (op: WireWriter) => op.message(3, (deletion) => deletion.bytes(1, deletedKey))),
  ]
  return encode(
    (writer) => {
      writer.message(1, (inner) => writeCompare(inner, key, compare))
      for (const guard of guards ?? []) writer.message(1, (inner) => writeCompare(inner, guard.key, guard.compare))
      for (const range of unchanged ?? []) writer.message(1, (inner) => writeUnchanged(inner, range))
      writer.message(2, (op) => {
        if (value === undefined) op.message(3, (deletion) => deletion.bytes(1, key))
        else op.message(2, (put) => writePut(put, key, value, lease))
      })
      if (further.length <= chunkSize) for (const operation of further) writer.message(2, operation)
      else
        for (let i = 0; i < further.length; i += chunkSize)
          writer.message(2, (op) => op.message(4, (inner) => writeOperations(inner, further.slice(i, i + chunkSize))))
      writer.message(3, (op) => op.message(1, (range) => writeRange(range, { key })))
    },
    (value?.length ?? 0) + 3 * key.length,
  )
}

export function encodeDeleteRange({ key, end }: { key: Uint8Array; end: Uint8Array }): Buffer {
  return encode((writer) => {
    writer.bytes(1, key)
    writer.bytes(2, end)
  })
}

export function encodeCompact(revision: number): Buffer {
  return encode((writer) => writer.integer(1, revision))
}

export function encodeLeaseGrant(seconds: number): Buffer {
  return encode((writer) => writer.integer(1, seconds))
}

/**
 * Encodes a watch request. The request enables previous values, and also fragments, so that a response is not much
 * larger than the largest request.
 */
export function encodeWatch({ key, end, start }: WatchRequest): Buffer {
  return encode((writer) =>
    writer.message(1, (create) => {
      create.bytes(1, key)
      create.bytes(2, end)
      create.integer(3, start)
      create.bool(6, true)
      create.bool(8, true)
    }),
  )
}

export function encodeStatus(): Buffer {
  return encode(() => {})
}

function encode(write: (writer: WireWriter) => void, payload = 0): Buffer {
  const writer = new WireWriter(frameHeaderBytes, payload + 256)
  write(writer)
  return seal(writer.finish())
}

function writeRange(writer: WireWriter, request: RangeRequest): void {
  const { key, end, limit, revision, countOnly, keysOnly, descending } = request
  writer.bytes(1, key)
  if (end !== undefined) writer.bytes(2, end)
  if (limit !== undefined) writer.integer(3, limit)
  if (revision !== undefined) writer.integer(4, revision)
  if (descending) writer.integer(5, 2)
  if (keysOnly) writer.bool(8, true)
  if (countOnly) writer.bool(9, true)
}

function writePut(writer: WireWriter, key: Uint8Array, value: Uint8Array, lease?: bigint): void {
  writer.bytes(1, key)
  writer.bytes(2, value)
  if (lease !== undefined) writer.integer(3, lease)
}

/** Encodes a comparison of a transaction. In etcd's enumeration, 0 means "equal" and 1 means "greater". */
function writeCompare(writer: WireWriter, key: Uint8Array, compare: Compare): void {
  const { target } = compare
  writer.integer(1, 'above' in compare ? 1 : 0)
  writer.integer(2, target === 'version' ? 0 : 2)
  writer.bytes(3, key)
  writer.integer(target === 'version' ? 4 : 6, 'above' in compare ? compare.above : compare.equals)
}

/**
 * Writes the condition that no key in the range has been written after `since`. In etcd's encoding, 2 means both "less"
 * and "mod_revision".
 */
function writeUnchanged(
  writer: WireWriter,
  { key, end, since }: { key: Uint8Array; end: Uint8Array; since: number },
): void {
  writer.integer(1, 2)
  writer.integer(2, 2)
  writer.bytes(3, key)
  writer.integer(6, since + 1)
  writer.bytes(64, end)
}

/** Writes a transaction with the given operations and no comparison. */
function writeOperations(writer: WireWriter, operations: readonly ((op: WireWriter) => void)[]): void {
  for (const operation of operations) writer.message(2, operation)
}

export function decodeRange(bytes: Uint8Array): RangeResponse {
  return readRange(new WireReader(bytes))
}

function readRange(reader: WireReader): RangeResponse {
  const response: RangeResponse = { revision: 0, entries: [], count: 0 }
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) response.revision = readHeader(reader.message()).revision
    else if (field === 2) response.entries.push(readKeyValue(reader.message()))
    else if (field === 4) response.count = reader.int64()
    else reader.skip()
  }
  return response
}

/** Decodes the response to a Put, Compact or DeleteRange request, and returns its revision. */
export function decodeHeaderOnly(bytes: Uint8Array): number {
  const reader = new WireReader(bytes)
  let revision = 0
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) revision = readHeader(reader.message()).revision
    else reader.skip()
  }
  return revision
}

/** Decodes the response to a lease request, and returns the ID of the lease. */
export function decodeLeaseGrant(bytes: Uint8Array): bigint {
  const reader = new WireReader(bytes)
  let id = 0n
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 2) id = reader.int64Big()
    else reader.skip()
  }
  return id
}

export function decodeSwap(bytes: Uint8Array): SwapResponse {
  const reader = new WireReader(bytes)
  const response: SwapResponse = { revision: 0, succeeded: false, current: undefined }
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) response.revision = readHeader(reader.message()).revision
    else if (field === 2) response.succeeded = reader.bool()
    else if (field === 3) response.current = readOperation(reader.message())
    else reader.skip()
  }
  return response
}

function readOperation(reader: WireReader): KeyValue | undefined {
  let entry: KeyValue | undefined
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) entry = readRange(reader.message()).entries[0]
    else reader.skip()
  }
  return entry
}

export function decodeWatch(bytes: Uint8Array): WatchResponse {
  const reader = new WireReader(bytes)
  const response: WatchResponse = {
    created: false,
    canceled: false,
    compactRevision: 0,
    reason: '',
    fragment: false,
    events: [],
  }
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 3) response.created = reader.bool()
    else if (field === 4) response.canceled = reader.bool()
    else if (field === 5) response.compactRevision = reader.int64()
    else if (field === 6) response.reason = reader.string()
    else if (field === 7) response.fragment = reader.bool()
    else if (field === 11) response.events.push(readEvent(reader.message()))
    else reader.skip()
  }
  return response
}

function readEvent(reader: WireReader): EtcdEvent {
  const event: EtcdEvent = { deleted: false, entry: emptyKeyValue(), previous: undefined }
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) event.deleted = reader.int32() === 1
    else if (field === 2) event.entry = readKeyValue(reader.message())
    else if (field === 3) event.previous = readKeyValue(reader.message())
    else reader.skip()
  }
  return event
}

export function decodeStatus(bytes: Uint8Array): StatusResponse {
  const reader = new WireReader(bytes)
  const response: StatusResponse = { clusterId: 0n, version: '', databaseBytes: 0, leader: 0n, learner: false }
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) response.clusterId = readClusterId(reader.message())
    else if (field === 2) response.version = reader.string()
    else if (field === 3) response.databaseBytes = reader.int64()
    else if (field === 4) response.leader = reader.uint64Big()
    else if (field === 10) response.learner = reader.bool()
    else reader.skip()
  }
  return response
}

function readClusterId(reader: WireReader): bigint {
  let id = 0n
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) id = reader.uint64Big()
    else reader.skip()
  }
  return id
}

function readHeader(reader: WireReader): { revision: number } {
  let revision = 0
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 3) revision = reader.int64()
    else reader.skip()
  }
  return { revision }
}

function readKeyValue(reader: WireReader): KeyValue {
  const entry = emptyKeyValue()
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) entry.key = decodeUtf8(reader.view())
    else if (field === 2) entry.createRevision = reader.int64()
    else if (field === 3) entry.modRevision = reader.int64()
    else if (field === 4) entry.version = reader.int64()
    else if (field === 5) entry.value = reader.bytes()
    else reader.skip()
  }
  return entry
}

function emptyKeyValue(): KeyValue {
  return { key: '', createRevision: 0, modRevision: 0, version: 0, value: new Uint8Array(0) }
}

// Decodes an etcd key, which can be any bytes. This store's keys are always UTF-8. Keys of other programs need not be
// UTF-8 and must not break the change stream.
function decodeUtf8(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
}
