/** An IP range that is divided into subnets of equal size, one per node. */
import { formatIp, type IpRange, parseRange } from '../../../api/model/ip-range.ts'

const widths = { IPv4: 32, IPv6: 128 } as const
/** Maximum number of subnets per pool. */
const maxRanges = 1n << 16n

export class CidrPool {
  readonly range: IpRange
  readonly #bits: number
  readonly #size: bigint
  readonly #count: number
  readonly #ownersByIndex = new Map<number, string>()
  #next = 0

  /** Creates a pool. `bits` is the prefix length of each subnet. */
  constructor(range: IpRange, bits: number) {
    this.range = range
    this.#bits = bits
    this.#size = 1n << BigInt(widths[range.family] - bits)
    const count = range.size / this.#size
    this.#count = Number(count < maxRanges ? count : maxRanges)
  }

  /** Allocates a free subnet, or returns undefined if no subnet is free. Released subnets are reused last. */
  take(owner: string): string | undefined {
    for (let i = 0; i < this.#count; i++) {
      const index = (this.#next + i) % this.#count
      if (this.#ownersByIndex.has(index)) continue
      this.#next = (index + 1) % this.#count
      this.#ownersByIndex.set(index, owner)
      const base = this.range.base + BigInt(index) * this.#size
      return `${formatIp({ family: this.range.family, number: base })}/${this.#bits}`
    }
    return undefined
  }

  /** Marks all subnets that overlap this range as allocated. */
  occupy(text: string, owner: string): void {
    for (const index of this.#indexesOf(text)) this.#ownersByIndex.set(index, owner)
  }

  /** Releases a subnet if it is allocated to the given owner. */
  release(text: string, owner: string): void {
    for (const index of this.#indexesOf(text))
      if (this.#ownersByIndex.get(index) === owner) this.#ownersByIndex.delete(index)
  }

  #indexesOf(text: string): number[] {
    const other = parseRange(text)
    if (other === undefined || other.family !== this.range.family) return []
    const end = this.range.base + BigInt(this.#count) * this.#size
    const from = other.base > this.range.base ? other.base : this.range.base
    const to = other.base + other.size < end ? other.base + other.size : end
    if (from >= to) return []
    const first = Number((from - this.range.base) / this.#size)
    const last = Number((to - 1n - this.range.base) / this.#size)
    return Array.from({ length: last - first + 1 }, (_, i) => first + i)
  }
}
