/**
 * Reads everything that a store or a backup holds and says what is wrong with it: values that do not match their
 * checksum, objects that lie under the name of another, reservations of objects that are not there, keys that are none
 * of ours. Nothing is changed.
 */
import { EncryptedValue, HeaderReader, NewerValue, storedJson, UnreadableValue } from '../../api/codec/stored.ts'
import { isObject, type Json } from '../../api/json/json.ts'
import type { Entry } from '../../storage/store/store.ts'
import { typeOfKey } from './format.ts'

/** Something that is wrong with an entry. */
export interface Fault {
  readonly entry: Entry
  readonly why: string
  /** Whether the entry is damaged, so that it can be set aside; else it is for somebody else to say what becomes of it. */
  readonly damaged: boolean
}

/** What a check has found. */
export interface CheckReport {
  readonly entries: number
  readonly bytes: number
  readonly objects: number
  readonly faults: readonly Fault[]
  /** How many faults there are beyond those that are listed. */
  readonly more: number
}

const maxFaults = 10_000

/** Checks pages of entries, in the order of their keys. */
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
  /** Reservations whose holder has not come yet: `claims/` lies before `objects/`. */
  readonly #held = new Map<string, Entry[]>()

  look(entry: Entry): void {
    this.entries++
    this.bytes += entry.value.length
    const [place] = entry.key.split('/', 1)
    if (place === 'objects') this.#lookAtObject(entry)
    else if (place === 'claims') this.#holdClaim(entry)
    else if (place !== 'meta' && place !== 'quota-debts')
      this.#add({ entry, why: 'a key that this program does not know', damaged: false })
  }

  finish(): CheckReport {
    for (const [holder, claims] of this.#held)
      for (const entry of claims)
        this.#add({ entry, why: `reserved for ${holder}, which is not there; a server releases it`, damaged: false })
    const { entries, bytes } = this
    return { entries, bytes, objects: this.#objects, faults: this.#faults, more: this.#more }
  }

  #lookAtObject(entry: Entry): void {
    this.#objects++
    this.#held.delete(entry.key)
    const fault = this.#faultOf(entry)
    if (fault !== undefined) this.#add({ entry, ...fault })
  }

  #faultOf({ key, revision, value }: Entry): { why: string; damaged: boolean } | undefined {
    if (typeOfKey(key) === undefined) return { why: 'a key that this program does not know', damaged: false }
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
    this.#held.set(holder, [...(this.#held.get(holder) ?? []), entry])
  }

  #add(fault: Fault): void {
    if (this.#faults.length < maxFaults) this.#faults.push(fault)
    else this.#more++
  }
}

/** What is wrong with an object that was read, by the key that it lies under. */
function wrongName(key: string, json: Buffer): string | undefined {
  const object = parse(json)
  const metadata = isObject(object) ? object.metadata : undefined
  if (!isObject(metadata)) return 'the stored value is not an object'
  const { name, namespace = '' } = metadata
  const place = key.split('/').slice(3).join('/')
  const told = namespace === '' ? String(name) : `${String(namespace)}/${String(name)}`
  return told === place ? undefined : `the object under this key says that it is ${told}`
}

function parse(json: Buffer): Json | undefined {
  try {
    return JSON.parse(json.toString()) as Json
  } catch {
    return undefined
  }
}
