/**
 * Caches the results of a conversion webhook for one version of a kind. Each state of an object is converted once, even
 * for concurrent readers, as long as the cache has room for the result.
 */
import { createHash } from 'node:crypto'
import { UpgradedObjectCache } from '../objects/upgraded-object-cache.ts'

/** Converts objects to this version. Takes and returns the objects as JSON, in the same order. */
export type ConvertAll = (jsons: readonly Buffer[]) => Promise<readonly Buffer[]>

/** Maximum total size in bytes of the objects in one call. The response has a separate limit and may be larger. */
const maxCallBytes = 256 * 1024
const maxCallObjects = 500

interface ConversionInput {
  readonly json: Buffer
  readonly id: string
}

export class ConversionCache {
  readonly #convert: ConvertAll
  readonly #forms = new UpgradedObjectCache()
  readonly #underWay = new Map<string, Promise<Buffer>>()

  constructor(convert: ConvertAll) {
    this.#convert = convert
  }

  get(json: Buffer): Buffer | undefined {
    const cachedForm = this.#forms.get(json)
    if (cachedForm !== undefined) return cachedForm
    const id = idOf(json)
    const same = this.#forms.find(id)
    if (same !== undefined) this.#forms.set(json, same, id)
    return same
  }

  /**
   * Converts objects in as few webhook calls as possible. Resolves when all results are available from `get`, which
   * returns them until they are evicted.
   */
  async make(jsons: readonly Buffer[]): Promise<void> {
    const missingForms = jsons.filter((json) => this.get(json) === undefined).map((json) => ({ json, id: idOf(json) }))
    const isUnderWay = ({ id }: ConversionInput) => this.#underWay.has(id)
    const others = missingForms.filter(isUnderWay)
    const calls = callsFor(missingForms.filter((each) => !isUnderWay(each))).map((some) => this.#ask(some))
    await Promise.all([...calls, ...others.map((each) => this.#join(each))])
  }

  async one(json: Buffer): Promise<Buffer> {
    await this.make([json])
    return this.get(json)!
  }

  async #join({ json, id }: ConversionInput): Promise<void> {
    this.#forms.set(json, await this.#underWay.get(id)!, id)
  }

  async #ask(inputs: readonly ConversionInput[]): Promise<void> {
    const answer = this.#convert(inputs.map(({ json }) => json))
    for (const [i, { id }] of inputs.entries()) {
      const own = answer.then((converted) => converted[i]!)
      // Callers that await this promise get the error. If no caller awaits it, the error must not become an unhandled
      // rejection.
      own.catch(() => {})
      this.#underWay.set(id, own)
    }
    try {
      const converted = await answer
      for (const [i, { json, id }] of inputs.entries()) this.#forms.set(json, converted[i]!, id)
    } finally {
      for (const { id } of inputs) this.#underWay.delete(id)
    }
  }
}

function idOf(json: Buffer): string {
  return createHash('sha256').update(json).digest('base64')
}

/** Groups objects into as few calls as possible. */
function callsFor(inputs: readonly ConversionInput[]): ConversionInput[][] {
  const calls: ConversionInput[][] = []
  let room = 0
  for (const each of inputs) {
    const size = each.json.length
    const last = calls.at(-1)
    if (last === undefined || size > room || last.length >= maxCallObjects) {
      calls.push([each])
      room = maxCallBytes - size
    } else {
      last.push(each)
      room -= size
    }
  }
  return calls
}
