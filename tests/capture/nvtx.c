/* nvtx.c: a real client of NVTX, without a GPU: every way to name a range. */
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static void *other_thread(void *unused) {
    (void)unused;
    nvtxRangePushA("elsewhere"); /* not of the main thread: no phase */
    nvtxRangePop();
    return NULL;
}

static void push_with(nvtxDomainHandle_t domain, nvtxMessageType_t type, const void *text) {
    nvtxEventAttributes_t a = {0};
    a.version = NVTX_VERSION;
    a.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    a.messageType = (int32_t)type;
    memcpy(&a.message, &text, sizeof text);
    if (domain)
        nvtxDomainRangePushEx(domain, &a);
    else
        nvtxRangePushEx(&a);
}

int main(void) {
    char *endless = malloc(70001);
    pthread_t thread;
    if (!endless)
        return 1;
    memset(endless, 'x', 70000);
    endless[70000] = '\0';
    nvtxRangePushA("step 1");
    nvtxRangePushW(L"\u524d\u5411");
    nvtxRangePop();
    push_with(NULL, NVTX_MESSAGE_TYPE_ASCII, "backward");
    nvtxRangePop();
    nvtxDomainHandle_t domain = nvtxDomainCreateA("NCCL");
    push_with(domain, NVTX_MESSAGE_TYPE_ASCII, "ncclAllReduce"); /* another domain: no phase */
    nvtxDomainRangePop(domain);
    nvtxStringHandle_t text = nvtxDomainRegisterStringA(NULL, "optimizer");
    push_with(NULL, NVTX_MESSAGE_TYPE_REGISTERED, text);
    nvtxRangePop();
    nvtxRangePushA(endless);
    nvtxRangePop();
    nvtxRangePushA(NULL);
    nvtxRangePop();
    nvtxMarkA("here");
    nvtxRangeEnd(nvtxRangeStartA("over threads"));
    if (pthread_create(&thread, NULL, other_thread, NULL) == 0)
        pthread_join(thread, NULL);
    nvtxRangePop();
    nvtxRangePop(); /* one too many */
    nvtxDomainDestroy(domain);
    free(endless);
    return 0;
}
