/**
 * Checks all entries of a store or backup without changing anything. Reports values with a wrong checksum, objects
 * stored under the wrong key, reservations without an owner and unknown keys.
 */
import { EncryptedValue, HeaderReader, NewerValue, storedJson, UnreadableValue } from '../../api/codec/stored.ts'
import { isObject, type Json } from '../../api/json/json.ts'
import type { Entry } from '../../storage/store/store.ts'
import { typeOfKey } from './format.ts'

/** An entry of the store that failed the check, with the reason. */
export interface Fault {
  readonly entry: Entry
  readonly why: string
  /** Whether the entry is damaged and may be quarantined. Other problems require a decision by the operator. */
  readonly damaged: boolean
}

/** Result of checking a store or backup. */
export interface CheckReport {
  readonly entries: number
  readonly bytes: number
  readonly objects: number
  readonly faults: readonly Fault[]
  /** Number of additional problems that were found but are not listed. */
  readonly more: number
}

const maxFaults = 10_000

/** Checks all entries, given as pages in key order, and reports problems. */
export async function checkPages(
  pages: AsyncIterable<readonly Entry[]>,
  onProgress: (progress: { entries: number; bytes: number }) => void = () => {},
): Promise<CheckReport> {
  const check = new Check()
  for await (const page of pages) {
    for (const entry of page) check.look(entry)
    onProgress(check)
  }
  return check.finish()
}

class Check {
  entries = 0
  bytes = 0
  #objects = 0
  #more = 0
  readonly #faults: Fault[] = []
  readonly #headers = new HeaderReader()
  /**
   * Reservations whose owner has not been found yet, by owner. All reservations sort before the objects, so an owner
   * always follows its reservations.
   */
  readonly #unmatchedReservations = new Map<string, Entry[]>()

  look(entry: Entry): void {
    this.entries++
    this.bytes += entry.value.length
    const [place] = entry.key.split('/', 1)
    if (place === 'objects') this.#lookAtObject(entry)
    else if (place === 'claims') this.#holdClaim(entry)
    else if (place !== 'meta' && place !== 'quota-debts') this.#add({ entry, why: 'unknown key', damaged: false })
  }

  finish(): CheckReport {
    for (const [holder, reservations] of this.#unmatchedReservations)
      for (const entry of reservations)
        this.#add({
          entry,
          why: `reserved for ${holder}, which does not exist; a server releases the reservation`,
          damaged: false,
        })
    const { entries, bytes } = this
    return { entries, bytes, objects: this.#objects, faults: this.#faults, more: this.#more }
  }

  #lookAtObject(entry: Entry): void {
    this.#objects++
    this.#unmatchedReservations.delete(entry.key)
    const fault = this.#faultOf(entry)
    if (fault !== undefined) this.#add({ entry, ...fault })
  }

  #faultOf({ key, revision, value }: Entry): { why: string; damaged: boolean } | undefined {
    if (typeOfKey(key) === undefined) return { why: 'unknown key', damaged: false }
    try {
      this.#headers.read(key, value)
    } catch (error) {
      if (!(error instanceof UnreadableValue)) throw error
      return { why: error.message, damaged: !(error instanceof NewerValue || error instanceof EncryptedValue) }
    }
    const why = wrongName(key, storedJson(value, String(revision), Buffer.allocUnsafe).json)
    return why === undefined ? undefined : { why, damaged: true }
  }

  #holdClaim(entry: Entry): void {
    const holder = Buffer.from(entry.value).toString()
    this.#unmatchedReservations.set(holder, [...(this.#unmatchedReservations.get(holder) ?? []), entry])
  }

  #add(fault: Fault): void {
    if (this.#faults.length < maxFaults) this.#faults.push(fault)
    else this.#more++
  }
}

/** Returns an error message if the key of a stored object does not match its name. */
function wrongName(key: string, json: Buffer): string | undefined {
  const object = parse(json)
  const metadata = isObject(object) ? object.metadata : undefined
  if (!isObject(metadata)) return 'the stored value is not an object'
  const { name, namespace = '' } = metadata
  const place = key.split('/').slice(3).join('/')
  const objectName = namespace === '' ? String(name) : `${String(namespace)}/${String(name)}`
  return objectName === place ? undefined : `the object stored under this key identifies itself as ${objectName}`
}

function parse(json: Buffer): Json | undefined {
  try {
    return JSON.parse(json.toString()) as Json
  } catch {
    return undefined
  }
}
