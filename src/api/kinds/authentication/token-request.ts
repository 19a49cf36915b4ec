/**
 * TokenRequest: asks for a token of a service account. An action (`apiserver/resources/service-account-token.ts`), stored
 * nowhere.
 */
import { child, type FieldError, type FieldPath } from '../../model/field-error.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, type InferFields, s } from '../../schema/schema.ts'
import { checkTokenLife } from '../core/types/token-life.ts'

const boundObjectReference = s.object(
  {
    kind: field(1, s.string(), { doc: 'Its kind: Pod or Secret.' }),
    apiVersion: field(2, s.string(), { doc: 'Group and version of its kind.' }),
    name: field(3, s.string(), { doc: 'Its name.' }),
    uid: field(4, s.string(), { doc: 'Its UID; if set, another object of the same name does not match.' }),
  },
  { name: 'BoundObjectReference', doc: 'The object that a token stands and falls with.' },
)

const specFields = {
  audiences: field(1, s.list(s.string()), {
    published: 'required',
    zero: 'write',
    doc: 'The audiences of the token: a recipient accepts it only if it is one of them. None: the API server.',
  }),
  expirationSeconds: field(4, s.int64(), {
    zero: 'keep',
    default: 3600,
    doc: 'The requested lifetime of the token in seconds, at least 600. The actual lifetime is in the status.',
  }),
  boundObjectRef: field(3, boundObjectReference, {
    doc: 'A Pod or Secret of the namespace: when that is gone, so is the token.',
  }),
}

const spec = s.object(specFields, {
  name: 'TokenRequestSpec',
  doc: 'What kind of token is wanted.',
  check: checkSpec,
})

const status = s.object(
  {
    token: field(1, s.string(), { required: false, published: 'required', zero: 'write', doc: 'The token.' }),
    expirationTimestamp: field(2, s.time(), { published: 'required', doc: 'Until when it is good.' }),
  },
  { name: 'TokenRequestStatus', doc: 'The token.' },
)

const fields = {
  spec: field(2, spec, { published: 'required', zero: 'write', doc: 'What is asked for.' }),
  status: field(3, status, { zero: 'write', doc: 'The answer. Filled in by the server.' }),
}

export type TokenRequest = ObjectOf<typeof fields>

export const tokenRequest = defineKind({
  names: {
    group: 'authentication',
    version: 'v1',
    kind: 'TokenRequest',
    plural: 'tokenrequests',
    scope: 'Namespaced',
  },
  doc: 'Asks for a token of a service account.',
  fields,
  life: { virtual: true },
})

function checkSpec({ expirationSeconds }: InferFields<typeof specFields>, path: FieldPath): FieldError[] {
  return checkTokenLife(expirationSeconds, child(path, 'expirationSeconds'))
}
