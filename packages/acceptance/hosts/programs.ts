// The server in an application of Fastify and in one of Nest, as docs/embedding.md describes.
import 'reflect-metadata';
import type { Server } from 'node:http';
import { Body, Controller, Module, Post } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { fastify } from 'fastify';
import type { SvcHandler } from '../../server/src/index.ts';

export interface Program extends AsyncDisposable {
  url: string;
}

export const startFastify = async (svc: SvcHandler): Promise<Program> => {
  const program = fastify();
  program.post('/echo', ({ body }) => body);
  await program.register(async (routes) => {
    routes.removeAllContentTypeParsers();
    routes.addContentTypeParser('*', (_request, _payload, done) => done(null));
    routes.all('/agents/*', (request, reply) => {
      reply.hijack();
      svc.node(request.raw, reply.raw);
    });
  });
  program.server.on('upgrade', svc.upgrade);
  const url = await program.listen({ port: 0, host: '127.0.0.1' });
  return { url, [Symbol.asyncDispose]: () => program.close() };
};

class Echo {
  echo(body: unknown): unknown {
    return body;
  }
}

class Application {}

/** Decorators are called as functions, because these files are not compiled for them. */
const decorate = (): void => {
  const { prototype } = Echo;
  Post('echo')(prototype, 'echo', Object.getOwnPropertyDescriptor(prototype, 'echo')!);
  Body()(prototype, 'echo', 0);
  Controller()(Echo);
  Module({ controllers: [Echo] })(Application);
};

export const startNest = async (svc: SvcHandler): Promise<Program> => {
  decorate();
  const program = await NestFactory.create(Application, { logger: false });
  program.use('/agents', svc.node);
  await program.listen(0, '127.0.0.1');
  (program.getHttpServer() as Server).on('upgrade', svc.upgrade);
  return { url: await program.getUrl(), [Symbol.asyncDispose]: () => program.close() };
};
