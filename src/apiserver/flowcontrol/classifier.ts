/**
 * Finds the FlowSchema of a request: the first FlowSchema in order of precedence that matches the user and the
 * attributes of the request. The FlowSchemas that can match a user are computed once per user, so that each request is
 * compared with few rules.
 */
import type { User } from '../../api/model/user.ts'
import { type CompiledRules, type FlowAttributes, matchesRules } from './flow-schema-rules.ts'

/** The part of a FlowSchema that the classifier needs. */
export interface Classified {
  readonly rules: readonly CompiledRules[]
}

interface Candidate<S> {
  readonly schema: S
  readonly rules: readonly CompiledRules[]
}

/** Finds the FlowSchema of a request. */
export class Classifier<S extends Classified> {
  readonly #schemas: readonly S[]
  readonly #otherwise: S
  /** For each User object, the FlowSchemas that can match the user. All requests of a user share the User object. */
  readonly #byUser = new WeakMap<User, readonly Candidate<S>[]>()

  /**
   * Creates a classifier. `schemas` are tried in the given order. Requests that match none of them get the FlowSchema
   * `otherwise`.
   */
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
    const cachedSchemas = this.#byUser.get(user)
    if (cachedSchemas !== undefined) return cachedSchemas
    const matchingSchemas = this.#schemas
      .map((schema) => ({ schema, rules: schema.rules.filter(({ isSubject }) => isSubject(user)) }))
      .filter(({ rules }) => rules.length > 0)
    this.#byUser.set(user, matchingSchemas)
    return matchingSchemas
  }
}
