/**
 * Allocates IP addresses for the pods of one node from the node's pod CIDR. An address is in use if the status of a pod
 * contains it or if it was allocated recently. No other state is stored, so a restarted process derives the same state
 * from the statuses.
 */
import { createHash } from 'node:crypto'
import type { Pod } from '../../../api/kinds/core/pod.ts'

/** The usable addresses of an IPv4 range, as numbers. */
interface Range {
  readonly first: number
  readonly last: number
}

export class PodAddresses {
  readonly #range: () => string
  #text = ''
  #parsed: Range | undefined
  readonly #holders = new Map<string, string>()
  readonly #addressesByPod = new Map<string, string>()
  #next = 0

  /** Creates a pool of addresses. `range` returns the current pod CIDR of the node. */
  constructor(range: () => string) {
    this.#range = range
  }

  /** Tracks the address in the status of a pod, and releases the address when the pod has ended. */
  observe(key: string, pod: Pod | undefined): void {
    const { hostNetwork } = pod?.spec ?? {}
    const { phase, podIP } = pod?.status ?? {}
    const isOver = pod === undefined || phase === 'Succeeded' || phase === 'Failed'
    if (isOver || hostNetwork) this.#release(key)
    else if (podIP) this.#hold(key, podIP)
  }

  /** Returns the address of this pod, allocating one if necessary. Returns undefined if the range is exhausted. */
  take(key: string): string | undefined {
    const own = this.#addressesByPod.get(key)
    if (own !== undefined) return own
    const range = this.#current()
    if (range === undefined) return undefined
    const count = range.last - range.first + 1
    for (let tried = 0; tried < count; tried++) {
      const address = addressText(range.first + ((this.#next + tried) % count))
      if (this.#holders.has(address)) continue
      this.#next = (this.#next + tried + 1) % count
      this.#hold(key, address)
      return address
    }
    return undefined
  }

  #hold(key: string, address: string): void {
    if (this.#addressesByPod.get(key) === address) return
    this.#release(key)
    this.#addressesByPod.set(key, address)
    this.#holders.set(address, key)
  }

  #release(key: string): void {
    const address = this.#addressesByPod.get(key)
    if (address === undefined) return
    this.#addressesByPod.delete(key)
    if (this.#holders.get(address) === key) this.#holders.delete(address)
  }

  #current(): Range | undefined {
    const text = this.#range()
    if (text !== this.#text) {
      this.#text = text
      this.#parsed = parseRange(text)
      this.#next = 0
    }
    return this.#parsed
  }
}

/** Returns the usable addresses of a range. Excludes the network address, the address after it and the last address. */
function parseRange(text: string): Range | undefined {
  const match = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})\/(\d{1,2})$/.exec(text)
  if (match === null) return undefined
  const [a, b, c, d, length] = match.slice(1).map(Number) as [number, number, number, number, number]
  if (length < 8 || length > 30) return undefined
  const size = 2 ** (32 - length)
  const start = Math.floor((((a * 256 + b) * 256 + c) * 256 + d) / size) * size
  return { first: start + 2, last: start + size - 2 }
}

function addressText(address: number): string {
  return [24, 16, 8, 0].map((bits) => Math.floor(address / 2 ** bits) % 256).join('.')
}

const rangesOfNames = 2 ** 14

/**
 * Returns the default CIDR of the node with this index, for clusters that do not assign CIDRs. The CIDRs are taken from
 * 10.128.0.0/10, and for higher indexes from the range of `rangeOfName`.
 */
export function ownRange(place: number): string {
  const network = 10 * 2 ** 24 + 128 * 2 ** 16 + (place % 2 ** 15) * 256
  return `${addressText(network)}/24`
}

/**
 * Returns the default CIDR of a node that is the only node in its process. A hash of the node's name selects the CIDR
 * from 10.192.0.0/10. Collisions are possible, but unlikely for a few nodes.
 */
export function rangeOfName(name: string): string {
  const hash = createHash('sha256').update(name).digest().readUInt32BE()
  return ownRange(rangesOfNames + (hash % rangesOfNames))
}
