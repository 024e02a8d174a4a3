// grpc_callback PORT DBDIR: the same lookup in the same store as floor_server, as a user of gRPC for C++ would write it:
// the callback API, and the stored messages parsed into the reply. Untuned: the library's own defaults.
#include <grpcpp/grpcpp.h>

#include <string>

#include "anchor.grpc.pb.h"
extern "C" {
#include "lm.h"
}

using errata::anchor::Errata;
using errata::anchor::FewShotRequest;
using errata::anchor::FewShotResponse;

static MDB_env *env;
static MDB_dbi dbi;

// gRPC's threads come and go; each that looks up has a reader of its own while it lives.
struct Reader {
  MDB_txn *txn = nullptr;
  MDB_cursor *cursor = nullptr;
  Reader() { CHK(mdb_txn_begin(env, NULL, MDB_RDONLY, &txn)); CHK(mdb_cursor_open(txn, dbi, &cursor)); mdb_txn_reset(txn); }
  ~Reader() { mdb_cursor_close(cursor); mdb_txn_abort(txn); }
};

static bool lookup(const FewShotRequest &request, FewShotResponse *response) {
  thread_local Reader reader;
  uint8_t prefix[48];
  if (request.org_id().size() != 16 || request.layout_fingerprint().size() != 32) return false;
  memcpy(prefix, request.org_id().data(), 16);
  memcpy(prefix + 16, request.layout_fingerprint().data(), 32);
  CHK(mdb_txn_renew(reader.txn));
  CHK(mdb_cursor_renew(reader.txn, reader.cursor));
  MDB_val key = {sizeof prefix, prefix}, value;
  unsigned got = 0;
  int rc = mdb_cursor_get(reader.cursor, &key, &value, MDB_SET_RANGE);
  while (!rc && got < request.limit() && !memcmp(key.mv_data, prefix, sizeof prefix)) {
    response->add_example()->ParseFromArray(value.mv_data, value.mv_size);
    if (++got < request.limit()) rc = mdb_cursor_get(reader.cursor, &key, &value, MDB_NEXT);
  }
  mdb_txn_reset(reader.txn);
  return true;
}

class Service : public Errata::CallbackService {
  grpc::ServerUnaryReactor *GetFewShotExamples(grpc::CallbackServerContext *context, const FewShotRequest *request,
                                               FewShotResponse *response) override {
    auto *reactor = context->DefaultReactor();
    reactor->Finish(lookup(*request, response) ? grpc::Status::OK
                                               : grpc::Status(grpc::INVALID_ARGUMENT, "an organisation and a layout are needed"));
    return reactor;
  }
};

int main(int argc, char **argv) {
  if (argc != 3) { fprintf(stderr, "usage: grpc_callback PORT DBDIR\n"); return 2; }
  CHK(mdb_env_create(&env));
  CHK(mdb_env_set_mapsize(env, 32ull << 30));
  CHK(mdb_env_set_maxreaders(env, 2000));
  CHK(mdb_env_open(env, argv[2], MDB_RDONLY | MDB_NOTLS | MDB_NORDAHEAD, 0644));
  MDB_txn *txn;
  CHK(mdb_txn_begin(env, NULL, MDB_RDONLY, &txn));
  CHK(mdb_dbi_open(txn, NULL, 0, &dbi));
  CHK(mdb_txn_commit(txn));
  Service service;
  grpc::ServerBuilder builder;
  builder.AddListeningPort(std::string("127.0.0.1:") + argv[1], grpc::InsecureServerCredentials());
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.RegisterService(&service);
  auto server = builder.BuildAndStart();
  if (!server) return 1;
  server->Wait();
  return 0;
}
