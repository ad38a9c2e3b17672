/**
 * Images in a request, as every provider checks them: of the kind that is declared, of a size that
 * is taken. Where in a request they may stand, the published types say (schema.ts).
 */
import { imageHead } from '../../domain/image.ts'
import type { Json, JsonObject } from '../../ports/json.ts'
import type { Endpoint, ImageSeen } from './wire.ts'
import { isObject } from './wire.ts'

/** Of the text that carries an image. */
const most = 5 * 1024 * 1024
const largestSide = 8_000

type Given = { media_type: string; base64: string }

export function imagesIn(
  endpoint: Endpoint,
  body: JsonObject,
): { images: readonly ImageSeen[]; violations: string[] } {
  const given = imagesOf(body)
  const violations = given.flatMap((one) => problemsOf(endpoint, one))
  const images = given.map(({ media_type, base64 }) => ({
    media_type,
    bytes: Buffer.from(base64, 'base64').length,
  }))
  return { images, violations }
}

function imagesOf(value: Json): Given[] {
  if (Array.isArray(value)) return value.flatMap(imagesOf)
  if (!isObject(value)) return []
  const own = ownImage(value)
  return own === null ? Object.values(value).flatMap((inner) => imagesOf(inner)) : [own]
}

/** The image that this object is, in any of the four formats. */
function ownImage(value: JsonObject): Given | null {
  const { type, media_type, mimeType, data, image_url, url } = value
  if (type === 'base64') return { media_type: String(media_type), base64: String(data) }
  if (typeof mimeType === 'string') return { media_type: mimeType, base64: String(data) }
  for (const text of [image_url, url]) {
    const found = typeof text === 'string' ? /^data:([^;]+);base64,(.*)$/s.exec(text) : null
    if (found) return { media_type: found[1] ?? '', base64: found[2] ?? '' }
  }
  return null
}

function problemsOf(endpoint: Endpoint, { media_type, base64 }: Given): string[] {
  if (base64.length > most) return [`an image of ${base64.length} bytes`]
  const head = imageHead(Buffer.from(base64, 'base64'))
  if (head === null) return ['an image that is none']
  if (head.media_type !== media_type) return [`${media_type}, but it is ${head.media_type}`]
  if (Math.max(head.width, head.height) > largestSide) return ['an image of too many pixels']
  return endpoint === 'google' && media_type === 'image/gif' ? ['a GIF'] : []
}
