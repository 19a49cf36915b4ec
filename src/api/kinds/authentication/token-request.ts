/**
 * A TokenRequest requests a token for a service account. `apiserver/resources/service-account-token.ts` handles the
 * request. TokenRequests are never stored.
 */
import { child, type FieldError, type FieldPath } from '../../model/field-error.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, type InferFields, s } from '../../schema/schema.ts'
import { checkTokenLife } from '../core/types/token-life.ts'

const boundObjectReference = s.object(
  {
    kind: field(1, s.string(), { doc: 'Kind of the object: Pod, Secret or, since version 1.31, Node.' }),
    apiVersion: field(2, s.string(), { doc: 'API version of the object.' }),
    name: field(3, s.string(), { doc: 'Name of the object.' }),
    uid: field(4, s.string(), {
      doc: 'UID of the object. If set, the request fails unless the object has this UID.',
    }),
  },
  { name: 'BoundObjectReference', doc: 'Reference to the object to which a token is bound.' },
)

const specFields = {
  audiences: field(1, s.list(s.string()), {
    published: 'required',
    zeroValue: 'write',
    doc: 'Intended audiences of the token. Recipients outside these audiences must reject the token. Defaults to the API server.',
  }),
  expirationSeconds: field(4, s.int64(), {
    zeroValue: 'keep',
    default: 3600,
    doc: 'Requested lifetime of the token in seconds. Must be at least 600. Defaults to 3600. The server may issue a token with a shorter lifetime.',
  }),
  boundObjectRef: field(3, boundObjectReference, {
    doc: 'Object to bind the token to: a Pod or Secret in the same namespace, or a Node. The token becomes invalid when the object is deleted.',
  }),
}

const spec = s.object(specFields, {
  name: 'TokenRequestSpec',
  doc: 'Properties of the requested token.',
  check: checkSpec,
})

const status = s.object(
  {
    token: field(1, s.string(), { required: false, published: 'required', zeroValue: 'write', doc: 'Issued token.' }),
    expirationTimestamp: field(2, s.time(), { published: 'required', doc: 'Time when the token expires.' }),
  },
  { name: 'TokenRequestStatus', doc: 'Result of a TokenRequest: the token and its expiration time.' },
)

const fields = {
  spec: field(2, spec, { published: 'required', zeroValue: 'write', doc: 'Properties of the requested token.' }),
  status: field(3, status, { zeroValue: 'write', doc: 'Issued token and its expiration time, set by the server.' }),
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
  doc: 'A request for a service account token. The request is not stored.',
  fields,
  lifecycle: { virtual: true },
})

function checkSpec({ expirationSeconds }: InferFields<typeof specFields>, path: FieldPath): FieldError[] {
  return checkTokenLife(expirationSeconds, child(path, 'expirationSeconds'))
}
