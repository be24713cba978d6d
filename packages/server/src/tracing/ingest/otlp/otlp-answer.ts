// Builds the ExportTraceServiceResponse: empty when all spans are stored; otherwise a partial success with the number of rejected spans,
// which exporters do not send again.
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import type { OtlpAnswer } from '@svc/contract';
import type { Rejections } from '../sent-run.ts';

const messagesMax = 20;

export const toOtlpAnswer = ({ named, count }: Rejections): OtlpAnswer => {
  if (count === 0) return {};
  const messages = named
    .slice(0, messagesMax)
    .map(({ id, message }) => (id === null ? message : `${id.slice(0, 40)}: ${message}`));
  return { partialSuccess: { rejectedSpans: String(count), errorMessage: messages.join('; ') } };
};

export const toProtobuf = ({ partialSuccess }: OtlpAnswer): Uint8Array<ArrayBuffer> => {
  if (partialSuccess === undefined) return new Uint8Array();
  const { rejectedSpans, errorMessage } = partialSuccess;
  const partial = new BinaryWriter()
    .tag(1, WireType.Varint)
    .int64(rejectedSpans)
    .tag(2, WireType.LengthDelimited)
    .string(Buffer.from(errorMessage).toString());
  return new Uint8Array(new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(partial.finish()).finish());
};
