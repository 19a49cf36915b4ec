/**
 * Lists all kinds of bad input that are known to have broken similar servers, and says where each kind is tested.
 * `here` lists groups of the table in `bad-inputs.test.ts`. `coveredBy` lists other tests by file and part of the name,
 * and `bad-inputs.test.ts` checks that these tests exist. `waits` names a feature that is not implemented yet, and
 * whose tests will cover the input. `open` describes what is not tested. A row may have several of these entries. The
 * numbers refer to public advisories.
 */
export interface BadInput {
  readonly here?: readonly string[]
  /** File paths are relative to `test/`. */
  readonly coveredBy?: readonly (readonly [file: string, test: string])[]
  readonly waits?: string
  readonly open?: string
}

type Rows = { readonly [row: string]: BadInput }

/** Known faults of API servers. */
export const apiServers: Rows = {
  'CVE-2019-11253: endlessly expanding aliases, huge or malformed bodies': {
    here: ['expansion'],
    coveredBy: [
      ['api/codec/yaml.test.ts', 'the YAML parser rejects '],
      ['apiserver/http/hostile-bodies.test.ts', 'hostile bodies'],
    ],
  },
  'CVE-2019-11254: YAML that takes quadratic time to parse': {
    coveredBy: [['api/codec/yaml.test.ts', 'parsing YAML takes linear time:']],
  },
  'CVE-2019-1002100: JSON patches that grow by copying': {
    here: ['expansion'],
    coveredBy: [
      ['api/merge/json-patch.test.ts', 'a JSON patch may have 10,000 operations but not more'],
      ['api/merge/json-patch.test.ts', 'a JSON patch whose copies repeatedly double in size is aborted'],
    ],
  },
  'CVE-2018-1002105, CVE-2020-8559: upgrades and tunnels': {
    coveredBy: [
      ['apiserver/transport/connections.test.ts', 'unsupported protocol upgrades are ignored'],
      [
        'apiserver/transport/connections.test.ts',
        'data that follows an upgrade request is not parsed as another request',
      ],
      ['apiserver/aggregation/hostile.test.ts', 'opens no tunnel, and the server discards later bytes from the client'],
      ['apiserver/aggregation/hostile.test.ts', 'a tunnel requires permission'],
    ],
  },
  'CVE-2019-11247: access to an object through a path of another scope': {
    here: ['scope'],
    coveredBy: [
      ['apiserver/http/access-matrix.long.test.ts', 'combinations of users and requests correctly with'],
      ['apiserver/authz/matrix.test.ts', 'authorization decisions for'],
    ],
  },
  'CVE-2022-3162: dots in a namespace or name that reach the store': {
    here: ['scope'],
    coveredBy: [['apiserver/http/hostile-paths.test.ts', 'spellings of a path']],
  },
  'CVE-2015-5305: dots in a group or resource': { here: ['scope'] },
  'CVE-2016-1905: a patch that bypasses the admission of updates': {
    coveredBy: [
      [
        'apiserver/admission/certificate-subject-restriction.test.ts',
        ', a CertificateSigningRequest for the superuser group is rejected',
      ],
      ['apiserver/admission/webhook/webhooks.test.ts', 'webhooks are called for every kind of write'],
    ],
  },
  'CVE-2021-25735: an old object that is modified before webhooks see it': {
    coveredBy: [
      [
        'apiserver/admission/webhook/webhooks.test.ts',
        'admission reviews for updates and collection deletes contain all fields',
      ],
    ],
  },
  'CVE-2020-8561: a webhook that redirects': {
    coveredBy: [['apiserver/admission/webhook/hostile.test.ts', 'the server never follows redirects from webhooks']],
  },
  'CVE-2020-8562, CVE-2020-8555, CVE-2025-13281: addresses in objects that the server calls': {
    coveredBy: [
      [
        'apiserver/admission/webhook/webhooks.test.ts',
        'the server sends webhook credentials only to the hosts for which they are configured',
      ],
    ],
    waits: 'a resolver that changes its answers: a connection is made to the address that was resolved for it',
  },
  'CVE-2022-3172, CVE-2018-1002102: another server that redirects the client': {
    coveredBy: [['apiserver/aggregation/hostile.test.ts', 'malformed backend responses are not forwarded']],
  },
  'CVE-2020-8552: metrics with unbounded labels': {
    coveredBy: [
      [
        'base/telemetry/metrics.test.ts',
        'requests are counted by resource type, and unknown names do not become labels',
      ],
    ],
  },
  'CVE-2023-44487, CVE-2023-39325, CVE-2019-9512, CVE-2019-9514: floods of resets and pings': {
    coveredBy: [
      ['apiserver/transport/floods.test.ts', 'floods of HTTP/2 frames do not stop the server'],
      [
        'apiserver/transport/floods.test.ts',
        'a client that keeps cancelling requests is disconnected before they are executed',
      ],
    ],
  },
  'CVE-2023-45288: endless headers': {
    coveredBy: [
      ['apiserver/transport/floods.test.ts', 'floods of HTTP/2 frames do not stop the server'],
      ['apiserver/transport/slow-clients.test.ts', 'an HTTP/2 connection with endless headers is closed'],
    ],
  },
  'CVE-2023-2727: a forbidden image in an ephemeral container': {
    coveredBy: [
      [
        'apiserver/admission/image-policy-webhook.test.ts',
        'the image policy webhook checks all containers of a pod, and its responses are cached',
      ],
    ],
  },
  'CVE-2023-2728, CVE-2024-3177: a secret that may not be mounted': {
    coveredBy: [
      [
        'apiserver/admission/service-account.test.ts',
        'an annotated service account restricts its pods to the secrets that it lists',
      ],
    ],
  },
  'CVE-2025-5187: a node that gets its own Node garbage-collected': {
    coveredBy: [['apiserver/admission/node-restriction.test.ts', 'a node agent cannot change']],
  },
  'CVE-2025-4563: a mirror Pod with resource claims of other pods': {
    coveredBy: [
      [
        'apiserver/admission/node-restriction.test.ts',
        'a node agent can create only mirror pods without references, and only on its own node',
      ],
    ],
  },
  'CVE-2021-3121, CVE-2024-24786: malformed Protobuf': {
    here: ['objects'],
    coveredBy: [
      ['base/protobuf-wire.test.ts', 'malformed messages are rejected'],
      ['fuzz/protobuf.test.ts', 'damaged Protobuf documents sent to a server are rejected or stored'],
    ],
  },
  'CVE-2019-11250, CVE-2020-8565: tokens in the log': {
    coveredBy: [['apiserver/http/identity.test.ts', 'a request with an invalid token is never treated as anonymous']],
    open: 'canaries through all tests',
  },
  'CVE-2024-7598: objects created while their namespace is being deleted': {
    coveredBy: [
      [
        'cluster/controllers/namespace.test.ts',
        'objects created while their namespace is being deleted are deleted too',
      ],
    ],
  },
  'CVE-2021-29923: addresses with leading zeros': {
    coveredBy: [
      ['api/pki/certificate.test.ts', 'the IP address'],
      ['server/start.test.ts', 'the error for an invalid flag suggests the closest flag or the accepted values'],
    ],
  },
  'CVE-2018-16875, CVE-2022-0778: certificates that waste CPU time': {
    coveredBy: [
      ['api/pki/certificate-chain.test.ts', 'mutated certificates are accepted or rejected'],
      [
        'apiserver/transport/handshakes.test.ts',
        'a client with a very long or untrusted certificate chain is rejected quickly',
      ],
    ],
  },
  'CVE-2021-25743: escape sequences in any text': {
    here: ['javascript'],
    coveredBy: [['tools/cli/printers.test.ts', 'a table cell is one line of printable characters']],
  },
  'CVE-2020-8554, CVE-2021-25740: Service and Endpoints': { here: ['scope'] },
  'CVE-2019-11249, CVE-2019-11246, CVE-2019-1002101, CVE-2019-11248: debug paths': { here: ['scope'] },
  'CVE-2026-2270, CVE-2026-76654: announced without detail': { open: 'no details to test yet' },
}

/** Authentication. */
export const identity: Rows = {
  'identity in headers without a proxy certificate': {
    coveredBy: [
      ['apiserver/http/access-matrix.long.test.ts', 'combinations of users and requests correctly with'],
      [
        'apiserver/authn/authenticating-proxy.test.ts',
        'proxy headers from other clients are ignored, regardless of spelling',
      ],
      [
        'apiserver/authn/authenticating-proxy.test.ts',
        'only proxies with an allowed common name and a valid certificate are accepted',
      ],
      ['apiserver/authn/authenticating-proxy.test.ts', 'proxy headers sent as trailers are ignored'],
      ['apiserver/authn/authenticating-proxy.test.ts', 'proxy headers are removed before later handlers run'],
    ],
  },
  'impersonation without permission': {
    coveredBy: [
      ['apiserver/http/access-matrix.long.test.ts', 'combinations of users and requests correctly with'],
      ['apiserver/authz/impersonation.test.ts', 'each impersonated value is authorized separately'],
    ],
  },
  'impersonation without a user': { here: ['scope'] },
  'duplicate credentials': {
    coveredBy: [['apiserver/http/hostile-headers.test.ts', 'duplicate credentials are rejected']],
  },
  'an invalid token when anonymous requests are allowed': {
    coveredBy: [['apiserver/http/identity.test.ts', 'a request with an invalid token is never treated as anonymous']],
  },
  'bearer token formats': {
    coveredBy: [['apiserver/http/identity.test.ts', 'a request with an invalid token is never treated as anonymous']],
  },
  'bootstrap tokens': {
    coveredBy: [
      ['apiserver/authn/bootstrap-tokens.test.ts', 'all invalid bootstrap tokens get the same response'],
      [
        'apiserver/authn/bootstrap-tokens.test.ts',
        'a bootstrap token becomes invalid when it expires or its Secret is deleted',
      ],
    ],
  },
  'the signature of cluster-info': {
    coveredBy: [
      ['tools/joining/cluster-info.test.ts', 'rejected: '],
      [
        'tools/joining/cluster-info.test.ts',
        'a man in the middle is detected during a join and does not learn the token',
      ],
    ],
  },
  'JWT: other algorithms': {
    coveredBy: [
      ['apiserver/authn/service-account-tokens.test.ts', 'tokens with an invalid signature are rejected'],
      ['apiserver/authn/service-account-tokens.test.ts', 'are rejected after any mutation'],
      [
        'apiserver/authn/openid-connect.test.ts',
        'ID tokens that were modified or signed with another key are rejected',
      ],
    ],
  },
  'JWT: claims': {
    coveredBy: [
      ['apiserver/authn/service-account-tokens.test.ts', 'tokens with invalid claims are rejected'],
      ['apiserver/authn/openid-connect.test.ts', 'ID tokens with invalid claims are rejected'],
    ],
  },
  'OIDC providers': {
    coveredBy: [
      [
        'apiserver/authn/openid-connect.test.ts',
        'known keys remain valid while the OIDC provider is unavailable or faulty',
      ],
      ['apiserver/authn/openid-connect.test.ts', 'conflicting OIDC flags are rejected'],
    ],
  },
  'the token of a deleted service account': {
    coveredBy: [
      [
        'apiserver/authn/service-account-tokens.test.ts',
        'a token becomes invalid if its account is deleted, even if the account is recreated',
      ],
      [
        'apiserver/authn/service-account-tokens.test.ts',
        'a token becomes invalid if its Secret is deleted, even if the Secret is recreated',
      ],
    ],
  },
  'token reviews': {
    coveredBy: [['apiserver/resources/endpoints.test.ts', 'a TokenReview returns the user of a token']],
  },
  'a certificate request for system:masters': {
    coveredBy: [
      [
        'apiserver/admission/certificate-subject-restriction.test.ts',
        ', a CertificateSigningRequest for the superuser group is rejected',
      ],
    ],
  },
  'a certificate request for another node': {
    coveredBy: [
      [
        'cluster/controllers/csr-approving.test.ts',
        'a CertificateSigningRequest from a user without permission stays pending and does not block later requests',
      ],
      [
        'api/pki/built-in-signers.test.ts',
        'each built-in signer reports every rule that a CertificateSigningRequest violates',
      ],
    ],
  },
  'approving, signing and changing certificate requests': {
    coveredBy: [
      ['api/kinds/certificate-signing-request.test.ts', 'validation of conditions written through'],
      [
        'api/kinds/certificate-signing-request.test.ts',
        'updating a CertificateSigningRequest without using a subresource changes neither its spec nor its status',
      ],
      [
        'api/kinds/certificate-signing-request.test.ts',
        'a certificate can be set only through the status of a CertificateSigningRequest, and only once',
      ],
      [
        'apiserver/admission/certificate-signers.test.ts',
        'RBAC rules grant permission for a certificate signer by name or domain, separately for approving and signing',
      ],
    ],
  },
  'malformed certificate requests': {
    coveredBy: [
      ['api/kinds/certificate-signing-request.test.ts', 'validation of a new CertificateSigningRequest:'],
      ['api/pki/certificate-request.test.ts', 'mutated certificate requests are rejected without unexpected errors:'],
    ],
  },
  'CVE-2021-44531, CVE-2021-44532, CVE-2021-44533: ambiguous certificate subjects': {
    coveredBy: [
      ['api/pki/identity.test.ts', 'the identity in a client certificate is read from '],
      ['api/pki/identity.test.ts', 'reading the identity from a certificate fails:'],
    ],
  },
  'certificates that are expired, not yet valid, from another CA or for another purpose': {
    coveredBy: [
      ['apiserver/http/identity.test.ts', 'client certificates'],
      [
        'api/pki/tls.test.ts',
        'the server rejects a client certificate that has expired, was issued by another CA or is valid only for servers',
      ],
    ],
  },
  'CVE-2025-59464: memory of handshakes with certificates': {
    coveredBy: [['apiserver/transport/handshakes.test.ts', 'handshakes with client certificates leak no memory']],
  },
  'the node authorizer': {
    coveredBy: [['apiserver/authz/node.test.ts', 'a node can read only the objects that its pods currently reference']],
  },
  'node labels and taints': {
    coveredBy: [['apiserver/admission/node-restriction.test.ts', 'a node agent cannot change']],
  },
  'owners with blockOwnerDeletion': {
    coveredBy: [
      [
        'apiserver/admission/owner-references-permission-enforcement.test.ts',
        'setting blockOwnerDeletion requires permission to update the finalizers of the owner',
      ],
    ],
  },
}

/** Typical mistakes with JavaScript and its runtime. */
export const runtime: Rows = {
  '__proto__ and similar names in data': {
    here: ['javascript'],
    coveredBy: [['apiserver/http/basic-requests.test.ts', '__proto__ and similar names are ordinary keys']],
  },
  '__proto__ and similar names in labels and names': { here: ['javascript', 'objects'] },
  'CVE-2021-4279, CVE-2025-64718: paths of patches that reach a prototype': {
    here: ['javascript'],
    coveredBy: [
      [
        'support/prototypes.test.ts',
        'the guard against prototype pollution is active in a server, and hostile input does not change prototypes',
      ],
    ],
  },
  'CVE-2026-21710: parameter and header names': {
    here: ['javascript'],
    coveredBy: [
      [
        'apiserver/http/hostile-headers.test.ts',
        'headers named like inherited JavaScript properties are ordinary headers',
      ],
    ],
  },
  'CVE-2026-53550, CVE-2026-84375, GHSA-48c2-rrv3-qjmp: YAML parsers': {
    here: ['expansion'],
    coveredBy: [
      ['api/codec/yaml.test.ts', 'the YAML parser rejects '],
      ['api/codec/yaml.test.ts', 'parsing YAML takes linear time:'],
    ],
  },
  'CVE-2026-44288, 44289, 44291, 44293: Protobuf parsers': {
    coveredBy: [
      ['fuzz/protobuf.test.ts', 'damaged Protobuf messages are rejected or survive a round trip'],
      [
        'apiserver/http/protobuf.test.ts',
        'malformed Protobuf messages are rejected, and the error contains the reason',
      ],
    ],
  },
  'CVE-2025-59466: deep nesting': {
    here: ['expansion'],
    coveredBy: [
      ['apiserver/http/hostile-bodies.test.ts', 'hostile bodies'],
      [
        'apiserver/http/every-write-method.test.ts',
        'a patch cannot nest an object more deeply than a request body can',
      ],
    ],
  },
  'numbers that cannot be represented': {
    here: ['javascript'],
    coveredBy: [
      ['api/codec/json.test.ts', 'the parser preserves all digits of numbers'],
      ['api/codec/json.test.ts', 'fractional numbers are not rounded to integers'],
    ],
  },
  'duplicate keys': { here: ['duplicates'] },
  'malformed base64': {
    here: ['javascript'],
    coveredBy: [['apiserver/http/hostile-bodies.test.ts', 'hostile bodies']],
  },
  'invalid UTF-8': {
    here: ['javascript'],
    coveredBy: [['apiserver/http/hostile-bodies.test.ts', 'hostile bodies']],
  },
  'lone surrogates': {
    here: ['javascript'],
    coveredBy: [
      ['apiserver/http/every-write-method.test.ts', 'every write method rejects text with unpaired surrogates'],
    ],
  },
  'characters that look alike': {
    here: ['javascript'],
    coveredBy: [['apiserver/http/hostile-bodies.test.ts', 'hostile bodies']],
  },
  'number-like keys and their order': { here: ['javascript'] },
  'CVE-2026-21717, CVE-2025-27209: colliding keys': { here: ['collisions'] },
  'slow regular expressions': {
    here: ['javascript'],
    coveredBy: [['apiserver/http/hostile-queries.test.ts', 'hostile queries get the expected status codes']],
  },
  'a trailing line feed after a matching string': { here: ['javascript'] },
  'CVE-2026-111497: compressed bodies': {
    here: ['javascript'],
    coveredBy: [
      [
        'apiserver/admission/webhook/hostile.test.ts',
        ': the failure policy of the webhook is applied before the timeout',
      ],
    ],
  },
  'CVE-2026-21637, CVE-2025-59465, CVE-2026-21714, CVE-2025-23085: exceptions below HTTP': {
    coveredBy: [
      [
        'apiserver/transport/connections.test.ts',
        'TLS 1.2 and later are accepted, and ALPN selects HTTP/2 or HTTP/1.1',
      ],
      ['apiserver/transport/floods.test.ts', 'floods of HTTP/2 frames do not stop the server'],
      ['apiserver/transport/handshakes.test.ts', 'unusual server names in a TLS handshake have no effect'],
    ],
  },
}

/** Bad input in requests and objects. */
export const requests: Rows = {
  'request smuggling': {
    coveredBy: [
      ['apiserver/transport/connections.test.ts', 'request smuggling attempts each get at most one response'],
      [
        'apiserver/transport/connections.test.ts',
        'data that follows an upgrade request is not parsed as another request',
      ],
      [
        'apiserver/transport/connections.test.ts',
        'an error in data that follows a request does not replace the response to the request',
      ],
    ],
  },
  'CVE-2026-58044: too many headers, so that the last are dropped': {
    coveredBy: [
      [
        'apiserver/http/hostile-headers.test.ts',
        'a request with too many headers is rejected, regardless of the position of the Authorization header',
      ],
      ['apiserver/http/hostile-headers.test.ts', 'whitespace around a header value is trimmed'],
    ],
  },
  'oversized headers': {
    coveredBy: [
      [
        'apiserver/http/hostile-headers.test.ts',
        'a request with too many headers is rejected, regardless of the position of the Authorization header',
      ],
      ['apiserver/http/hostile-queries.test.ts', 'a request target above the header size limit is rejected'],
    ],
  },
  'CVE-2019-5737: slow clients': {
    coveredBy: [
      ['apiserver/transport/slow-clients.test.ts', 'a client that sends its headers byte by byte is disconnected'],
      ['apiserver/transport/slow-clients.test.ts', 'a client that does not send its TLS handshake is disconnected'],
      ['apiserver/transport/slow-clients.test.ts', 'a client whose body never ends is disconnected'],
      [
        'apiserver/flowcontrol/server.test.ts',
        'a request with a long response occupies its seat until the client has read the response or disconnected',
      ],
      ['tools/console/console.test.ts', 'a console file is read from disk only once, however often it is requested'],
    ],
  },
  'oversized bodies': {
    coveredBy: [
      ['apiserver/http/hostile-headers.test.ts', 'a body of more than 3 MiB gets a 413, regardless of the framing'],
    ],
  },
  'oversized objects': { here: ['objects'] },
  'objects that are too large for the store': {
    coveredBy: [
      [
        'storage/store/etcd.test.ts',
        'many Secrets of the maximum size are stored and watched, and larger values throw ValueTooLarge',
      ],
      ['storage/store/lmdb-directory.test.ts', 'rejects a value that exceeds the limit and accepts the next value'],
    ],
  },
  'notations of paths': {
    here: ['scope'],
    coveredBy: [
      ['apiserver/http/hostile-paths.test.ts', 'spellings of a path'],
      [
        'apiserver/http/hostile-paths.test.ts',
        'a write to an unusual spelling of a path is rejected or has the same effect as a write to the plain path',
      ],
    ],
  },
  'odd methods': {
    here: ['objects'],
    coveredBy: [
      ['apiserver/http/hostile-paths.test.ts', 'requests with unusual methods are rejected'],
      ['apiserver/http/methods.test.ts', 'methods'],
    ],
  },
  'a request that is ambiguous between list and watch': {
    here: ['queries'],
    coveredBy: [['fuzz/queries.test.ts', 'random queries return what a simple model predicts']],
  },
  selectors: {
    here: ['queries'],
    coveredBy: [
      ['apiserver/http/hostile-queries.test.ts', 'hostile queries get the expected status codes'],
      ['fuzz/queries.test.ts', 'random queries return what a simple model predicts'],
    ],
  },
  'limits and timeouts': {
    here: ['queries'],
    coveredBy: [['apiserver/http/hostile-queries.test.ts', 'hostile queries get the expected status codes']],
  },
  versions: {
    here: ['queries'],
    coveredBy: [
      [
        'apiserver/http/hostile-queries.test.ts',
        'a resourceVersion that the server does not reach in time gets a 504 with Retry-After',
      ],
      ['fuzz/queries.test.ts', 'random queries return what a simple model predicts'],
    ],
  },
  'continue tokens': {
    here: ['queries'],
    coveredBy: [
      ['apiserver/http/hostile-queries.test.ts', 'a continue token is valid only for the same list and the same user'],
    ],
  },
  'namespaces and names that are prefixes of others': {
    coveredBy: [['fuzz/queries.test.ts', 'random queries return what a simple model predicts']],
  },
  names: {
    here: ['objects'],
    coveredBy: [
      ['apiserver/http/writes.test.ts', 'if a generated name is already in use, the server generates another name'],
    ],
  },
  'metadata that clients must not set': {
    here: ['objects'],
    coveredBy: [['apiserver/http/writes.test.ts', 'the server drops clusterName and rejects a negative generation']],
  },
  'delete options': {
    here: ['objects'],
    coveredBy: [['fuzz/bodies.test.ts', 'random bodies are rejected or stored as a simple model predicts']],
  },
  apply: {
    here: ['objects'],
    coveredBy: [['api/merge/linear.test.ts', 'the cost of a patch or apply grows linearly:']],
  },
  'content types': {
    here: ['objects'],
    coveredBy: [
      [
        'apiserver/http/protobuf.test.ts',
        'malformed Protobuf messages are rejected, and the error contains the reason',
      ],
    ],
  },
  'immutable fields': {
    here: ['unchangeable'],
    coveredBy: [
      ['clients/conformance.test.ts', 'cannot be changed and must be deleted first'],
      [
        'api/kinds/certificate-signing-request.test.ts',
        'updating a CertificateSigningRequest without using a subresource changes neither its spec nor its status',
      ],
      [
        'api/kinds/storage-class.test.ts',
        'the provisioning settings of a StorageClass are immutable, and all other fields are mutable',
      ],
      [
        'api/kinds/ingress.test.ts',
        'the controller of an IngressClass must be a domain-prefixed path and is immutable',
      ],
    ],
  },
  'paths in volumes': { here: ['volumes'] },
  'CVE-2026-33413, 33343, 73499, CVE-2023-32082, CVE-2021-28235: the access control of etcd': {
    coveredBy: [
      [
        'apiserver/http/restored-etcd.test.ts',
        'two servers that share an etcd cluster recover after etcd is restored from a backup',
      ],
    ],
  },
}
