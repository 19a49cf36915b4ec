/**
 * Which schema a request belongs to: the first in the order of precedence that is for its user and for what it asks for.
 * What users can match at all is found out once per user, so that a request is compared with few rules.
 */
import type { User } from '../../api/model/user.ts'
import { type CompiledRules, type FlowAttributes, matchesRules } from './matching.ts'

/** What the classifier needs of a schema; the order of precedence is that of the list. */
export interface Classified {
  readonly rules: readonly CompiledRules[]
}

interface Candidate<S> {
  readonly schema: S
  readonly rules: readonly CompiledRules[]
}

/** Finds the schema of a request. */
export class Classifier<S extends Classified> {
  readonly #schemas: readonly S[]
  readonly #otherwise: S
  /** Users are the same objects from one request to the next. */
  readonly #byUser = new WeakMap<User, readonly Candidate<S>[]>()

  /** `schemas` in the order of precedence; `otherwise` is for what none of them is for. */
  constructor(schemas: readonly S[], otherwise: S) {
    this.#schemas = schemas
    this.#otherwise = otherwise
  }

  find(user: User, attributes: FlowAttributes): S {
    for (const { schema, rules } of this.#candidates(user))
      for (const each of rules) if (matchesRules(each, attributes)) return schema
    return this.#otherwise
  }

  #candidates(user: User): readonly Candidate<S>[] {
    const known = this.#byUser.get(user)
    if (known !== undefined) return known
    const found = this.#schemas
      .map((schema) => ({ schema, rules: schema.rules.filter(({ isSubject }) => isSubject(user)) }))
      .filter(({ rules }) => rules.length > 0)
    this.#byUser.set(user, found)
    return found
  }
}
