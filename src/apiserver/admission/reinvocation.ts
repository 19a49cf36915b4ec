/**
 * Tracks which webhooks or policies run again in the second round of admission: those that allow reinvocation and have
 * not yet received the current version of the object.
 */
import { sameJson } from '../../api/json/json.ts'
import { type ApiObject, asJson } from '../../api/model/object.ts'

/**
 * Tracks the admission rounds of webhooks or policies. `T` identifies a webhook, or a policy with its binding and
 * parameters.
 */
export class Rounds<T> {
  /** Webhooks or policies that have seen the latest object. */
  #current = new Set<T>()
  readonly #outdated = new Set<T>()
  #result: ApiObject | undefined

  /**
   * Starts the second round. If other plugins have changed the object, no webhook or policy has received the current
   * version yet.
   */
  begin(object: ApiObject | undefined): void {
    if (object === this.#result || object === undefined || this.#result === undefined) return
    if (!sameJson(asJson(object), asJson(this.#result))) this.changed()
  }

  wants(member: T): boolean {
    return this.#outdated.has(member)
  }

  /** Records that a webhook or policy has seen the latest object and allows reinvocation. */
  ran(member: T): void {
    this.#current.add(member)
  }

  end(object: ApiObject | undefined): void {
    this.#result = object
  }

  /** Records that the object has changed, so that all webhooks or policies that ran earlier must receive it again. */
  changed(): void {
    for (const member of this.#current) this.#outdated.add(member)
    this.#current = new Set()
  }
}
