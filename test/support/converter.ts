/**
 * A conversion webhook for tests: a real HTTPS server whose responses the test sets. `honest` converts correctly. The
 * size of a widget is a number in `spec` in v1, and a string in `spec.dimensions` in v2.
 */
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { makeServerIdentity } from './identities.ts'
import type { Ending } from './server.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests read members of objects of any kind
export type Loose = any

export interface ConversionReview {
  readonly apiVersion: string
  readonly kind: string
  readonly request: { readonly uid: string; readonly desiredAPIVersion: string; readonly objects: Loose[] }
}

/** Returns the response body, or undefined to send no response. */
export type Answer = (review: ConversionReview) => Promise<Loose> | Loose

export class Converter {
  readonly reviews: ConversionReview[] = []
  readonly paths: string[] = []
  answer: Answer = honest
  readonly #server: Server
  readonly #authority: string
  readonly #port: number

  private constructor(server: Server, authority: string) {
    this.#server = server
    this.#authority = authority
    this.#port = (server.address() as AddressInfo).port
    server.on('request', async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk)
      const review: ConversionReview = JSON.parse(Buffer.concat(chunks).toString())
      this.reviews.push(review)
      this.paths.push(request.url ?? '')
      const body = await this.answer(review)
      if (body !== undefined) response.end(typeof body === 'string' ? body : JSON.stringify(body))
    })
  }

  static async start(t: Ending): Promise<Converter> {
    const { certificate, key, authority } = await makeServerIdentity({ dns: [], ips: ['127.0.0.1'] })
    const server = createServer({ cert: certificate, key })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const converter = new Converter(server, authority)
    t.after(() => converter.stop())
    return converter
  }

  /** Closes the port. */
  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  /** Returns the `conversion` field of a custom resource definition. */
  conversion(versions: readonly string[] = ['v1']) {
    const url = `https://127.0.0.1:${this.#port}/convert`
    const caBundle = Buffer.from(this.#authority).toString('base64')
    return {
      strategy: 'Webhook',
      webhook: { clientConfig: { url, caBundle }, conversionReviewVersions: [...versions] },
    }
  }

  /** Returns the number of webhook calls since the previous call of this method. */
  calls(): number {
    return this.reviews.splice(0).length
  }
}

export function answerWith(review: ConversionReview, convertedObjects: Loose[], more: object = {}): Loose {
  const { apiVersion, kind, request } = review
  return { apiVersion, kind, response: { uid: request.uid, result: { status: 'Success' }, convertedObjects, ...more } }
}

export function honest(review: ConversionReview): Loose {
  const { desiredAPIVersion, objects } = review.request
  return answerWith(
    review,
    objects.map((object) => convert(object, desiredAPIVersion)),
  )
}

export function convert(object: Loose, apiVersion: string): Loose {
  const { size, dimensions, ...spec } = object.spec ?? {}
  if (apiVersion.endsWith('/v1')) {
    const number = dimensions?.size === undefined ? {} : { size: Number(dimensions.size) }
    return { ...object, apiVersion, spec: { ...spec, ...number } }
  }
  const text = size === undefined ? {} : { dimensions: { size: String(size) } }
  return { ...object, apiVersion, spec: { ...spec, ...text } }
}

const status = { type: 'object', 'x-orch-preserve-unknown-fields': true }

/** Returns the two versions of a widget that `honest` converts. `storage` is the storage version. */
export function widgetVersions(storage: 'v1' | 'v2', more: object = {}): Loose[] {
  const versionOf = (name: string, size: object) => ({
    name,
    served: true,
    storage: name === storage,
    schema: {
      openAPIV3Schema: {
        type: 'object',
        properties: {
          spec: { type: 'object', properties: { color: { type: 'string' }, replicas: { type: 'integer' }, ...size } },
          status,
        },
      },
    },
    subresources: { status: {}, scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } },
    ...more,
  })
  return [
    versionOf('v1', { size: { type: 'integer' } }),
    versionOf('v2', { dimensions: { type: 'object', properties: { size: { type: 'string' } } } }),
  ]
}
